// What gRPC's libraries add to a server by plugins, reflection and channelz: who has them.
//
// Why so   a library that is linked may add its plugin to every server that the program builds, so
//          a server that is not to have one must say so.
// Threads  one that builds.
#ifndef MASKD_SERVICE_ADMIN_SERVER_PLUGINS_H_
#define MASKD_SERVICE_ADMIN_SERVER_PLUGINS_H_

#include <memory>

#include <grpcpp/server_builder.h>

namespace maskd::service {

// The builder of a server that describes neither itself nor the process.
std::unique_ptr<grpc::ServerBuilder> BuilderWithoutPlugins();

// The builder of one with reflection and channelz.
std::unique_ptr<grpc::ServerBuilder> BuilderWithPlugins();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_SERVER_PLUGINS_H_
