# What `cmake --install` installs: the command (see certify/), the libraries with their headers, and what
# find_package(spatialcert) needs. Headers go to a folder of their own, so that the short paths of the sources
# (`#include "certify/pipeline.hpp"`) are the consumer's too and collide with nobody's.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY SPATIALCERT_LIBRARIES)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/spatialcert)

install(TARGETS ${libraries} EXPORT spatialcertTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/spatialcert
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spatialcert)
install(EXPORT spatialcertTargets NAMESPACE spatialcert:: DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/spatialcertConfig.cmake.in
  ${PROJECT_BINARY_DIR}/spatialcertConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/spatialcertConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/spatialcertConfig.cmake ${PROJECT_BINARY_DIR}/spatialcertConfigVersion.cmake
  DESTINATION ${package_folder})

file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.schema.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/spatialcert)
