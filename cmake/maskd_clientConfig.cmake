# Protobuf before gRPC, which wants it: Debian's has no config file.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(absl CONFIG)
find_dependency(Protobuf)
find_dependency(gRPC CONFIG)
include(${CMAKE_CURRENT_LIST_DIR}/maskd_clientTargets.cmake)
