# libmaskd.so: the client and the appliers behind the C functions of client/c/maskd.h, with everything
# else hidden, and what finds it once it is installed: maskdConfig.cmake and maskd.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MASKD_ABI_VERSION 1)
foreach(room cpu apply other_protos protos ring client)
  set_target_properties(maskd_${room} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()

set(c_folder ${CMAKE_SOURCE_DIR}/client/c)
add_library(maskd_c SHARED
  ${c_folder}/applier.cc ${c_folder}/client.cc ${c_folder}/result.cc ${c_folder}/status.cc
  ${c_folder}/step.cc ${c_folder}/stream.cc)
add_library(maskd::c ALIAS maskd_c)
set_target_properties(maskd_c PROPERTIES
  OUTPUT_NAME maskd VERSION ${PROJECT_VERSION} SOVERSION ${MASKD_ABI_VERSION}
  EXPORT_NAME maskd CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LINK_DEPENDS ${c_folder}/maskd.map)
target_compile_definitions(maskd_c PRIVATE MASKD_VERSION="${PROJECT_VERSION}")
target_include_directories(maskd_c
  PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(maskd_c PRIVATE maskd::client maskd::apply)
target_link_options(maskd_c PRIVATE LINKER:--version-script=${c_folder}/maskd.map)
maskd_warnings(maskd_c)

install(TARGETS maskd_c EXPORT maskd COMPONENT c
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT c)
install(FILES ${c_folder}/maskd.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/maskd)
install(EXPORT maskd NAMESPACE maskd:: FILE maskdConfig.cmake DESTINATION ${package_folder}
  COMPONENT c)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/maskdConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/maskdConfigVersion.cmake DESTINATION ${package_folder} COMPONENT c)

# From the file's own place, so that the installed tree can be moved.
file(RELATIVE_PATH maskd_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/maskd.pc.in ${CMAKE_BINARY_DIR}/maskd.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/maskd.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
