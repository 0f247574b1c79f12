// The HTTP endpoint that Prometheus scrapes: GET /metrics, text format, classic buckets; and where
// whoever cannot ask a Unix socket asks for health: GET /livez, GET /readyz, 200 or 503.
//
// Bounds    kMostPeers connections, of which the oldest is closed when one more comes; each may
//           take kPatience, and kMostHead bytes for its request. So nobody who asks slowly, or
//           never, keeps a scrape from its answer.
// Protocol  one request a connection, which is then closed (RFC 9112).
// Security  no TLS and no authentication: loopback, or a network that only the scraper reaches.
// Threads   it starts one, which serves until this is destroyed.
#ifndef MASKD_SERVICE_PORTS_METRICS_PORT_H_
#define MASKD_SERVICE_PORTS_METRICS_PORT_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <poll.h>

#include "grammar_core/base/clock.h"
#include "metrics/registry.h"
#include "ring/unique_fd.h"
#include "service/ports/listen_socket.h"

namespace maskd::service {

// What the endpoint tells, of a server that outlives it. Any thread calls these.
struct MetricsPages {
  const metrics::Metrics* metrics;
  std::function<bool()> is_live;
  std::function<bool()> is_ready;
};

// All figures of now in Prometheus' text format. Any thread.
std::string MetricsText(const metrics::Metrics& metrics);

// The endpoint, which serves from Start() until it is destroyed.
class MetricsPort {
 public:
  static constexpr std::size_t kMostPeers = 64;
  static constexpr std::size_t kMostHead = 8192;
  static constexpr std::chrono::seconds kPatience{10};

  // `address` is host:port; port 0 takes a free one. Errors: UNAVAILABLE with address and reason.
  static absl::StatusOr<std::unique_ptr<MetricsPort>> Start(const std::string& address,
                                                            MetricsPages pages);
  ~MetricsPort();
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  // Which the system chose, where the address left it open.
  [[nodiscard]] int port() const { return socket_.port(); }

 private:
  struct Peer {
    ring::UniqueFd fd;
    Clock::TimePoint end;
    std::string head;    // of its request, so far
    std::string answer;  // what is left of it; empty: none yet
  };

  MetricsPort(MetricsPages pages, ListenSocket socket, ring::UniqueFd stop);
  void Serve();
  // What to wait for: the end, the listeners, the peers.
  [[nodiscard]] std::vector<pollfd> Watched() const;
  // Until when, for poll(2).
  [[nodiscard]] int PatienceMs() const;
  void Accept(int listener);
  // Goes on with one. Whether it is of no more use.
  bool GoOn(Peer* peer) const;
  bool Read(Peer* peer) const;
  [[nodiscard]] std::string Answer(absl::string_view head) const;

  const MetricsPages pages_;
  const ListenSocket socket_;
  const ring::UniqueFd stop_;  // an eventfd
  std::list<Peer> peers_;      // the oldest first
  std::thread thread_;         // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_METRICS_PORT_H_
