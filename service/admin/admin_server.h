// The server behind --admin_listen: AdminService, reflection and channelz, apart from the one that
// gives masks.
//
// Apart    it has its own connections, threads and bounds, so nobody at the other address can
//          use them up; and as many threads as calls can be open, so that no admin can either.
// Polling  its queue is waited on by no thread. In the packaged gRPC one thread of the process at a
//          time looks at all of its sockets: a second waiting thread would be handed each message
//          of a Decode stream before that stream's thread. So the streams' threads look at these
//          sockets too, and a thread of this looks every kLook, for when those are busy or hang.
// Threads  Start() and the end on one thread; the rest any.
#ifndef MASKD_SERVICE_ADMIN_ADMIN_SERVER_H_
#define MASKD_SERVICE_ADMIN_ADMIN_SERVER_H_

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/completion_queue.h>
#include <grpcpp/server.h>

#include "service/admin/admin_service.h"
#include "service/admin/admin_view.h"
#include "service/callers/admission.h"
#include "service/callers/connections.h"
#include "service/calls/gate.h"
#include "service/config/config.h"
#include "service/ports/ports.h"

namespace maskd::service {

// A server for admins that runs, from Start() until it is destroyed.
class AdminServer {
 public:
  static constexpr std::chrono::milliseconds kLook{20};

  // Listens at the addresses for admins. Nothing is owned. Errors: UNAVAILABLE; the message starts
  // with the flag.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(const Config& config,
                                                            AdminView::Parts parts,
                                                            std::string version,
                                                            Admission* admission);
  // Cancels the calls that are open.
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // As Ports::ports().
  [[nodiscard]] const std::vector<int>& ports() const { return ports_.ports(); }

 private:
  AdminServer(const Config& config, AdminView::Parts parts, std::string version,
              Admission* admission);
  absl::Status Listen();
  void LookUntilStopped();

  Connections connections_;
  const Gate gate_;
  AdminService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> sockets_;
  std::unique_ptr<grpc::Server> server_;  // its threads use all of the above
  Ports ports_;
  std::thread looker_;  // ends with `sockets_`
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ADMIN_ADMIN_SERVER_H_
