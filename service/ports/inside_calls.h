// Calls that the program makes to its own server, for its playground: over a channel inside the
// process, and known by a secret in their metadata that nobody else has.
//
// Threads  any.
#ifndef MASKD_SERVICE_PORTS_INSIDE_CALLS_H_
#define MASKD_SERVICE_PORTS_INSIDE_CALLS_H_

#include <memory>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_context.h>

namespace maskd::service {

// The secret, and what bears it.
class InsideCalls {
 public:
  // Draws the secret, of this process alone.
  InsideCalls();

  // A channel whose calls bear the secret.
  std::shared_ptr<grpc::Channel> Connect(grpc::Server* server) const;
  // Whether the call does.
  [[nodiscard]] bool Has(const grpc::ServerContextBase& context) const;

 private:
  const std::string secret_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_INSIDE_CALLS_H_
