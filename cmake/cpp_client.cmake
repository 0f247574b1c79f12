# What `cmake --install --component cpp` puts where: the C++ client as static libraries, its headers, and
# maskd_clientConfig.cmake, by which find_package(maskd_client) gives maskd::client and maskd::apply, as
# add_subdirectory() and FetchContent do. Headers keep their paths in this repository, under include/maskd_client.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/maskd_client)
set(cpp_rooms cpu ring other_protos protos apply client)
foreach(room IN LISTS cpp_rooms)
  set_target_properties(maskd_${room} PROPERTIES EXPORT_NAME ${room})
  target_include_directories(maskd_${room} INTERFACE $<INSTALL_INTERFACE:${headers}>)
endforeach()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/maskd_clientConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# maskd_install_cpp(COMPONENT LIBDIR): two places can hold it, as with the C library.
function(maskd_install_cpp component libdir)
  foreach(room IN LISTS cpp_rooms)
    install(TARGETS maskd_${room} EXPORT maskd_client_${component} COMPONENT ${component} ARCHIVE DESTINATION ${libdir})
  endforeach()
  install(DIRECTORY client/cpp client/apply DESTINATION ${headers}/client COMPONENT ${component}
    FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY cpu ring protos DESTINATION ${headers} COMPONENT ${component} FILES_MATCHING PATTERN "*.h")
  foreach(folder protos third_party/protos)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/${folder}/ DESTINATION ${headers} COMPONENT ${component}
      FILES_MATCHING PATTERN "*.pb.h" PATTERN CMakeFiles EXCLUDE)
  endforeach()
  set(package ${libdir}/cmake/maskd_client)
  install(EXPORT maskd_client_${component} NAMESPACE maskd:: FILE maskd_clientTargets.cmake DESTINATION ${package}
    COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/maskd_clientConfigVersion.cmake cmake/maskd_clientConfig.cmake
    DESTINATION ${package} COMPONENT ${component})
endfunction()

maskd_install_cpp(cpp ${CMAKE_INSTALL_LIBDIR})
maskd_install_cpp(cpp_debian lib/${CMAKE_LIBRARY_ARCHITECTURE})  # scripts/debs
