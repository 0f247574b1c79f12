# libmaskd.so: the client, the appliers and the engine behind the C functions of client/c/maskd.h, with
# everything else hidden, and what finds it once it is installed: maskdConfig.cmake and maskd.pc.
#
# It is made to be loaded anywhere: gRPC, protobuf, Abseil, RE2 and the C++ library are inside, by Debian's
# static archives; glibc and libgcc alone are outside. So is OpenSSL, for
# gRPC's TLS. With a sanitizer, and where the sources that it takes cannot be had, it is linked as programs are.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MASKD_ABI_VERSION 1)
set(c_folder ${PROJECT_SOURCE_DIR}/client/c)

maskd_joined(c_functions maskd_c_functions
  ${c_folder}/applier.cc ${c_folder}/client.cc ${c_folder}/outcomes.cc ${c_folder}/result.cc ${c_folder}/status.cc
  ${c_folder}/step.cc ${c_folder}/stream.cc)
add_library(maskd_c_functions OBJECT ${c_functions})
set_target_properties(maskd_c_functions PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_compile_definitions(maskd_c_functions PRIVATE MASKD_VERSION="${PROJECT_VERSION}")
target_include_directories(maskd_c_functions PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(maskd_c_functions PRIVATE maskd::local maskd::client maskd::apply)
maskd_warnings(maskd_c_functions)

add_library(maskd_c SHARED $<TARGET_OBJECTS:maskd_c_functions>)
add_library(maskd::c ALIAS maskd_c)
set_target_properties(maskd_c PROPERTIES
  OUTPUT_NAME maskd VERSION ${PROJECT_VERSION} SOVERSION ${MASKD_ABI_VERSION}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/client
  EXPORT_NAME maskd LINKER_LANGUAGE CXX LINK_DEPENDS ${c_folder}/maskd.map)
target_include_directories(maskd_c
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> INTERFACE $<INSTALL_INTERFACE:include>)
target_link_options(maskd_c PRIVATE LINKER:--version-script=${c_folder}/maskd.map)

# What Debian's archives lack as position-independent code: what has variables of a thread, or stderr by its
# address. Of RE2 that is most; its tables are taken from the archive.
set(sources ${PROJECT_SOURCE_DIR}/build/library-sources)
set(compiled_anew
  ${sources}/abseil/absl/base/internal/sysinfo.cc
  ${sources}/abseil/absl/container/internal/raw_hash_set.cc
  ${sources}/abseil/absl/random/internal/pool_urbg.cc
  ${sources}/abseil/absl/strings/internal/cordz_functions.cc
  ${sources}/abseil/absl/strings/internal/str_format/parser.cc
  ${sources}/protobuf/src/google/protobuf/arena.cc
  ${sources}/protobuf/src/google/protobuf/stubs/common.cc)
foreach(file bitstate compile dfa filtered_re2 mimics_pcre nfa onepass parse prefilter prefilter_tree prog re2 regexp
             set simplify stringpiece tostring)
  list(APPEND compiled_anew ${sources}/re2/re2/${file}.cc)
endforeach()

# Links the library of archives alone: a target of CMake's would bring the shared libraries.
function(maskd_link_archives)
  add_library(maskd_compiled_anew OBJECT ${compiled_anew})
  set_target_properties(maskd_compiled_anew PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(maskd_compiled_anew PRIVATE -w)
  target_compile_definitions(maskd_compiled_anew PRIVATE HAVE_PTHREAD=1)
  target_include_directories(maskd_compiled_anew PRIVATE ${sources}/protobuf/src ${sources}/re2)

  # Of the rooms that a server has besides, the linker takes nothing: no ports, no Prometheus.
  set(archives "")
  foreach(room local wire streams sequences grammars callers config service_base client apply protos other_protos ring cache memory
               reasons matcher compile completion rows unique_items mask_routes automaton derivatives
               intersection terms frontend mask tokenizer ir base cpu)
    list(APPEND archives $<TARGET_FILE:maskd_${room}>)
    add_dependencies(maskd_c maskd_${room})
  endforeach()
  set_property(TARGET maskd_c APPEND PROPERTY LINK_DEPENDS ${archives})
  foreach(name grpc++ grpc gpr protobuf re2 upb cares address_sorting ssl crypto z)
    find_library(MASKD_ARCHIVE_${name} lib${name}.a REQUIRED)
    list(APPEND archives ${MASKD_ARCHIVE_${name}})
  endforeach()
  cmake_path(GET MASKD_ARCHIVE_protobuf PARENT_PATH folder)
  file(GLOB of_abseil ${folder}/libabsl_*.a)
  target_sources(maskd_c PRIVATE $<TARGET_OBJECTS:maskd_compiled_anew>
    ${PROJECT_SOURCE_DIR}/metrics/uncounted.cc ${c_folder}/glibc_compat.cc)
  target_compile_options(maskd_c PRIVATE -fvisibility=hidden)
  target_link_options(maskd_c PRIVATE -static-libstdc++ LINKER:--exclude-libs,ALL LINKER:--gc-sections
    LINKER:--as-needed LINKER:-z,defs)
  target_link_libraries(maskd_c PRIVATE
    -Wl,--start-group ${archives} ${of_abseil} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS} rt m)
endfunction()

option(MASKD_LIBRARY_ALONE "libmaskd needs no other packages; else it is linked as programs are" ON)
set(MASKD_LIBRARY_IS_ALONE OFF CACHE INTERNAL "libmaskd is linked of archives")
if(MASKD_LIBRARY_ALONE AND NOT MASKD_SANITIZED)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/library-sources RESULT_VARIABLE no_sources)
  if(no_sources EQUAL 0)
    set(MASKD_LIBRARY_IS_ALONE ON CACHE INTERNAL "libmaskd is linked of archives")
  else()
    message(WARNING "libmaskd is linked to the installed packages: the sources that it takes cannot be had")
  endif()
endif()
if(MASKD_LIBRARY_IS_ALONE)
  maskd_link_archives()
else()
  target_link_libraries(maskd_c PRIVATE maskd::local maskd::client maskd::apply)
endif()
maskd_warnings(maskd_c)

# maskd_install_library(COMPONENT LIBDIR): two places can hold it, as the package files name the one they are for.
function(maskd_install_library component libdir)
  set(package_folder ${libdir}/cmake/maskd)
  install(TARGETS maskd_c EXPORT maskd_${component} COMPONENT ${component}
    LIBRARY DESTINATION ${libdir} NAMELINK_COMPONENT ${component})
  install(FILES ${c_folder}/maskd.h ${c_folder}/maskd_applier.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  install(EXPORT maskd_${component} NAMESPACE maskd:: FILE maskdConfig.cmake DESTINATION ${package_folder}
    COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/maskdConfigVersion.cmake DESTINATION ${package_folder}
    COMPONENT ${component})
  # From the file's own place, so that the installed tree can be moved.
  file(RELATIVE_PATH maskd_prefix /${libdir}/pkgconfig /)
  set(maskd_libdir ${libdir})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/maskd.pc.in ${PROJECT_BINARY_DIR}/${component}/maskd.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${component}/maskd.pc DESTINATION ${libdir}/pkgconfig
    COMPONENT ${component})
endfunction()

write_basic_package_version_file(${PROJECT_BINARY_DIR}/maskdConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
maskd_install_library(c ${CMAKE_INSTALL_LIBDIR})
# Where Debian has libraries, whatever the prefix of this build is (scripts/debs).
maskd_install_library(c_debian lib/${CMAKE_LIBRARY_ARCHITECTURE})
