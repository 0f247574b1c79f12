// Where the server listens: its addresses, the loop that accepts their connections, the connections
// that are open.
//
// Why ours  gRPC's own listener ends for good when descriptors are short once, and bounds nothing.
//           So connections are accepted here and handed to gRPC one by one.
// TLS       gRPC's, too: a connection to an address with TLS goes to the acceptor of SetUp(),
//           which shakes hands on gRPC's threads. So what is bounded here is bounded for those, and
//           certificates are gRPC's to watch.
// Threads   Open(), SetUp(), Start() and Close() on one thread, in this order.
#ifndef MASKD_SERVICE_PORTS_PORTS_H_
#define MASKD_SERVICE_PORTS_PORTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "metrics/figures.h"
#include "ring/socket_file.h"
#include "ring/unique_fd.h"
#include "service/base/activity.h"
#include "service/callers/connections.h"
#include "service/config/addresses.h"
#include "service/config/config.h"
#include "service/ports/accept_loop.h"
#include "service/ports/listen_socket.h"

namespace maskd::service {

// Who may use the sockets' files, as the flags say.
ring::SocketRights SocketRightsOf(const Config& config);

// All addresses that a server listens at.
class Ports {
 public:
  // Those for `audience`. Neither is owned.
  Ports(const Config& config, Connections* connections, Audience audience = Audience::kEngines)
      : config_(config),
        connections_(connections),
        audience_(audience),
        addresses_(AddressesOf(config, audience)),
        ports_(addresses_.size()) {}

  // Listens at every address; nobody is accepted yet. Errors: UNAVAILABLE with flag, address and
  // reason.
  absl::Status Open();
  // Adds what TLS needs to a server that is to be built.
  void SetUp(grpc::ServerBuilder* builder);
  // Hands connections to `server` from here on. Errors: UNAVAILABLE.
  absl::Status Start(grpc::Server* server);
  // Accepts nobody any more. Connections that are open stay.
  void Close();

  // One an entry of AddressesOf(config); of no meaning for a Unix socket.
  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }
  // What the loop that accepts is doing.
  [[nodiscard]] const Activity& activity() const { return activity_; }
  // For each scrape. Any thread.
  [[nodiscard]] std::vector<metrics::Figure> ReadFigures() const;

 private:
  void Take(grpc::Server* server, ring::UniqueFd connection, int listener);
  void LogStart(Connections::Limits limits, std::int64_t max_fds) const;

  const Config& config_;
  Connections* const connections_;
  const Audience audience_;
  const std::vector<ListenAddress> addresses_;
  std::vector<int> ports_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tls_;
  std::set<int> tls_listeners_;
  std::atomic<std::int64_t> shortages_ = 0;
  Activity activity_;
  std::vector<ListenSocket> sockets_;
  std::unique_ptr<AcceptLoop> loop_;  // last: its thread uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_PORTS_H_
