// The way from a gRPC call to its caller: what the call shows, and what admission says of it.
//
// Threads  any.
#ifndef MASKD_SERVICE_GATE_H_
#define MASKD_SERVICE_GATE_H_

#include "absl/status/statusor.h"
#include <grpcpp/server_context.h>

#include "service/admission.h"
#include "service/caller.h"
#include "service/connections.h"

namespace maskd::service {

// Reads from a call who makes it, and has admission judge.
class Gate {
 public:
  // Neither is owned.
  Gate(const Connections* connections, Admission* admission)
      : connections_(connections), admission_(admission) {}

  // Errors: those of Admission::Admit().
  [[nodiscard]] absl::StatusOr<Caller> Admit(const grpc::ServerContextBase& context) const;
  // Errors: those of Admission::AdmitAdmin().
  [[nodiscard]] absl::StatusOr<Caller> AdmitAdmin(const grpc::ServerContextBase& context) const;
  [[nodiscard]] Peer PeerOf(const grpc::ServerContextBase& context) const {
    return connections_->PeerOf(context.peer());
  }

 private:
  [[nodiscard]] Shown ShownBy(const grpc::ServerContextBase& context) const;

  const Connections* const connections_;
  Admission* const admission_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GATE_H_
