# What every target of the project shares: language level, warnings, header checks.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SPATIALCERT_CCACHE ccache)
if(SPATIALCERT_CCACHE)
  # What ccache has to overlook if headers are precompiled (its manual, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SPATIALCERT_CCACHE})
endif()

option(SPATIALCERT_PRECOMPILED_HEADERS "Parse the headers of others once per target instead of once per file" ON)

# What ccache needs; and GCC 12 warns of std::string where it comes from a precompiled header, of nothing that is wrong.
set(SPATIALCERT_PRECOMPILED_OPTIONS
  "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-restrict>")

# spatialcert_precompile(TARGET [headers...]): the standard headers that most files include, and these. Files still include
# what they use: without the option they have to compile.
function(spatialcert_precompile target)
  if(SPATIALCERT_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <functional> <limits> <map> <memory> <numeric>
      <optional> <set> <string> <string_view> <unordered_map> <utility> <variant> <vector> ${ARGN})
    target_compile_options(${target} PRIVATE ${SPATIALCERT_PRECOMPILED_OPTIONS})
  endif()
endfunction()

function(spatialcert_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
endfunction()

# spatialcert_library(NAME [PUBLIC targets...] [PRIVATE targets...]): a static library of the sources in
# SOURCES, with its headers (HEADERS) checked to compile alone and installed with it; headers of others to PRECOMPILE.
function(spatialcert_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(spatialcert::${name} ALIAS ${name})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  spatialcert_warnings(${name})
  spatialcert_precompile(${name} ${arg_PRECOMPILE})
  set_property(GLOBAL APPEND PROPERTY SPATIALCERT_LIBRARIES ${name})
endfunction()
