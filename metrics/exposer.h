// The HTTP endpoint that Prometheus scrapes: GET /metrics, text format, classic buckets.
//
// Security  no TLS and no authentication: loopback, or a network that only the scraper reaches.
// Threads   serves on a thread of its own until it is destroyed.
#ifndef MASKD_METRICS_EXPOSER_H_
#define MASKD_METRICS_EXPOSER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "metrics/registry.h"

namespace prometheus {
class Exposer;
}  // namespace prometheus

namespace maskd::metrics {

class Exposer {
 public:
  // `address` is host:port; port 0 takes a free one. Errors: UNAVAILABLE when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<Exposer>> Start(const std::string& address,
                                                        const Metrics& metrics);
  ~Exposer();

  [[nodiscard]] int port() const { return port_; }

 private:
  Exposer() = default;

  std::unique_ptr<prometheus::Exposer> exposer_;
  int port_ = 0;
};

}  // namespace maskd::metrics

#endif  // MASKD_METRICS_EXPOSER_H_
