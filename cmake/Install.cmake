# Program, libraries, header, man page, CMake package and pkg-config file. Nothing installed names
# the prefix: the tree may be moved.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sbps)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS sbps-static sbps-shared EXPORT sbps FILE_SET HEADERS)
install(TARGETS sbps)
install(EXPORT sbps NAMESPACE sbps:: DESTINATION ${package_dir} FILE sbps-targets.cmake)

configure_package_config_file(cmake/sbps-config.cmake.in sbps-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(sbps-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sbps-config.cmake ${CMAKE_BINARY_DIR}/sbps-config-version.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
list(JOIN SBPS_LINK " " SBPS_LIBS_PRIVATE)
configure_file(cmake/sbps.pc.in sbps.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sbps.pc DESTINATION ${pkgconfig_dir})

if(EXISTS ${CMAKE_SOURCE_DIR}/docs/sbps.1)
    install(FILES docs/sbps.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
