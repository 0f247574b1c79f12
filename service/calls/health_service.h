// The standard health service: which of the server's names are serving.
//
// Why ours  the one inside gRPC is served by separate threads that wait for sockets, and each
//           message of a Decode stream would be handed from such a thread to the stream's.
// Threads   it starts one, which answers every call and waits for no socket: no caller of this or
//           any other service can use it up. A watcher costs no thread. The calls come by the queue
//           of a Decode stream, whose thread only passes them on. Set() and Stop() from any thread.
// Bound     kMaxWatchers calls of Watch at once.
// Order     Listen(), Start(), Accept() once a method is to be served; Stop(), then the server's
//           shutdown, then Join().
#ifndef MASKD_SERVICE_CALLS_HEALTH_SERVICE_H_
#define MASKD_SERVICE_CALLS_HEALTH_SERVICE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>

#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The names of the server and how each stands, with those who watch them.
class HealthService {
 public:
  static constexpr int kMaxWatchers = 4096;

  // Nobody is served yet, and nobody listens.
  HealthService();
  // Join()s. The server must be gone.
  ~HealthService();
  HealthService(const HealthService&) = delete;
  HealthService& operator=(const HealthService&) = delete;

  // Says how a name stands, and tells those who watch it.
  void Set(const std::string& name, bool serving) ABSL_LOCKS_EXCLUDED(mutex_);
  // Lets the watchers go: their calls end with UNAVAILABLE.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Registers the service.
  void Listen(grpc::ServerBuilder* builder);
  // Errors: UNAVAILABLE (no thread).
  absl::Status Start();
  // Takes calls that come by `queue`, once it is served. `*live` counts what waits there, and is
  // changed on the queue's thread alone.
  void Accept(grpc::ServerCompletionQueue* queue, int* live);
  // Waits for the end of the calls.
  void Join() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;
  class Check;
  class Watch;

  // SERVICE_UNKNOWN for a name that is not registered.
  [[nodiscard]] Status Find(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CallBegun() ABSL_LOCKS_EXCLUDED(mutex_);
  void CallEnded() ABSL_LOCKS_EXCLUDED(mutex_);

  grpc::health::v1::Health::AsyncService service_;
  std::unique_ptr<grpc::CompletionQueue> events_;  // of the calls
  std::thread thread_;

  Mutex mutex_;
  CondVar call_ended_;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mutex_);
  std::set<Watch*> watchers_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_HEALTH_SERVICE_H_
