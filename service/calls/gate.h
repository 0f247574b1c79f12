// The way from a gRPC call to its caller: what the call shows, and what admission says of it.
//
// Threads  any.
#ifndef MASKD_SERVICE_CALLS_GATE_H_
#define MASKD_SERVICE_CALLS_GATE_H_

#include "absl/status/statusor.h"
#include <grpcpp/server_context.h>

#include "service/callers/admission.h"
#include "service/callers/caller.h"
#include "service/callers/connections.h"
#include "service/config/tenant_rule.h"
#include "service/ports/inside_calls.h"

namespace maskd::service {

// Reads from a call who makes it, and has admission judge.
class Gate {
 public:
  // None is owned. `inside_calls` is null where none come from inside.
  Gate(const Connections* connections, Admission* admission,
       const InsideCalls* inside_calls = nullptr)
      : connections_(connections), admission_(admission), inside_calls_(inside_calls) {}

  // With the trace that the call belongs to, if it says one. Errors: those of Admission::Admit().
  [[nodiscard]] absl::StatusOr<Caller> Admit(const grpc::ServerContextBase& context) const;
  // Errors: those of Admission::AdmitAdmin().
  [[nodiscard]] absl::StatusOr<Caller> AdmitAdmin(const grpc::ServerContextBase& context) const;
  [[nodiscard]] Peer PeerOf(const grpc::ServerContextBase& context) const {
    if (inside_calls_ != nullptr && inside_calls_->Has(context))
      return {.is_local = true, .name = kPlayground};
    return connections_->PeerOf(context.peer());
  }

 private:
  [[nodiscard]] Shown ShownBy(const grpc::ServerContextBase& context) const;

  const Connections* const connections_;
  Admission* const admission_;
  const InsideCalls* const inside_calls_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_GATE_H_
