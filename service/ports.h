// Where the server listens: its addresses, the loop that accepts their connections, the connections
// that are open.
//
// Why ours  gRPC's own listener ends for good when descriptors are short once, and bounds nothing. So
//           connections are accepted here and handed to gRPC one by one.
// Threads   Open(), Start() and Close() on one thread, in this order.
#ifndef MASKD_SERVICE_PORTS_H_
#define MASKD_SERVICE_PORTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include <grpcpp/server.h>

#include "metrics/figures.h"
#include "ring/socket_file.h"
#include "ring/unique_fd.h"
#include "service/accept_loop.h"
#include "service/activity.h"
#include "service/config.h"
#include "service/connections.h"
#include "service/listen_socket.h"

namespace maskd::service {

// Of the sockets' files, as the flags say.
ring::SocketRights SocketRightsOf(const Config& config);

class Ports {
 public:
  // Neither is owned.
  Ports(const Config& config, Connections* connections)
      : config_(config), connections_(connections), ports_(config.listen.size()) {}

  // Listens at every address; nobody is accepted yet. Errors: UNAVAILABLE with flag, address and
  // reason.
  absl::Status Open();
  // Hands connections to `server` from here on. Errors: UNAVAILABLE.
  absl::Status Start(grpc::Server* server);
  // Accepts nobody any more. Connections that are open stay.
  void Close();

  // One an entry of Config::listen; of no meaning for a Unix socket.
  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }
  // Of the loop that accepts.
  [[nodiscard]] const Activity& activity() const { return activity_; }
  // For each scrape. Any thread.
  [[nodiscard]] std::vector<metrics::Figure> ReadFigures() const;

 private:
  void Take(grpc::Server* server, ring::UniqueFd connection);

  const Config& config_;
  Connections* const connections_;
  std::vector<int> ports_;
  std::atomic<std::int64_t> shortages_ = 0;
  Activity activity_;
  std::vector<ListenSocket> sockets_;
  std::unique_ptr<AcceptLoop> loop_;  // last: its thread uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_H_
