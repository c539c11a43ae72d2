# What `cmake --install` lays out: the component `development` (headers,
# libraries, CMake package, pkg-config file) and the component `programs`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries alkstore_substrate alkstore_actors alkstore_testing)
foreach(library IN LISTS libraries)
  string(REPLACE alkstore_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${library}
    PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(TARGETS ${libraries} EXPORT alkstore
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# Headers go to include/alkstore/, and what they include is written so there:
# "substrate/time.hpp" is "alkstore/substrate/time.hpp".
string(CONCAT copy_headers
  "set(from [==[${PROJECT_SOURCE_DIR}]==])\n"
  "set(to [==[${CMAKE_INSTALL_INCLUDEDIR}/alkstore]==])\n"
  "include([==[${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake]==])")
install(CODE "${copy_headers}" COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/alkstore)
set(package_build ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/alkstore-config.cmake.in
  ${package_build}/alkstore-config.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change what its users compile against.
write_basic_package_version_file(${package_build}/alkstore-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/caf.cmake
    ${package_build}/alkstore-config.cmake
    ${package_build}/alkstore-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
install(EXPORT alkstore NAMESPACE alkstore:: FILE alkstore-targets.cmake
  DESTINATION ${package_dir} COMPONENT development)

file(RELATIVE_PATH ALKSTORE_PC_TO_PREFIX
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ALKSTORE_PC_TO_PREFIX "${ALKSTORE_PC_TO_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/alkstore.pc.in
  ${package_build}/alkstore.pc @ONLY)
install(FILES ${package_build}/alkstore.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The command line and the extension say so beside their targets.
install(TARGETS alkstore-node
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
install(FILES ${PROJECT_SOURCE_DIR}/config/caf-application.conf
    ${PROJECT_SOURCE_DIR}/config/alkstore-node.service
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/alkstore/examples COMPONENT programs)
