// The standard health service: which of the server's names are serving.
//
// Why ours  the one inside gRPC is served by threads of its own that wait for sockets, and each
//           message of a Decode stream would be handed from such a thread to the stream's.
// Threads   any. A watcher holds one of the threads for calls while it watches.
#ifndef MASKD_SERVICE_HEALTH_SERVICE_H_
#define MASKD_SERVICE_HEALTH_SERVICE_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "grammar_core/base/mutex.h"

namespace maskd::service {

class HealthService final : public grpc::health::v1::Health::Service {
 public:
  void Set(const std::string& name, bool serving) ABSL_LOCKS_EXCLUDED(mutex_);
  // Lets the watchers go: their calls end with UNAVAILABLE.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
  grpc::Status Watch(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override;

 private:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // SERVICE_UNKNOWN for a name that is not registered.
  [[nodiscard]] Status Find(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the name's status is not `known`. False when the call or the server ends before.
  bool WaitForChange(const grpc::ServerContext& context, const std::string& name, Status* known)
      ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_HEALTH_SERVICE_H_
