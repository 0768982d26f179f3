# What every target of the project shares: language level, warnings, header checks.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SPATIALCERT_CCACHE ccache)
if(SPATIALCERT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SPATIALCERT_CCACHE})
endif()

function(spatialcert_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
endfunction()

# spatialcert_library(NAME [PUBLIC targets...] [PRIVATE targets...]): a static library of the sources in
# SOURCES, with its headers (HEADERS) checked to compile alone and installed with it.
function(spatialcert_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(spatialcert::${name} ALIAS ${name})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  spatialcert_warnings(${name})
  set_property(GLOBAL APPEND PROPERTY SPATIALCERT_LIBRARIES ${name})
endfunction()
