// The Prometheus page of a server.
//
// Threads  any.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_METRICS_PAGE_H_
#define MASKD_TOOLS_ATTACK_TARGETS_METRICS_PAGE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::attack {

// One scrape, kept as text; Sum() looks through it each time.
class MetricsPage {
 public:
  // `address` is host:port, the host in numbers. Errors: UNAVAILABLE, INVALID_ARGUMENT.
  static absl::StatusOr<MetricsPage> Read(const std::string& address);

  // Takes a text that was fetched elsewhere, for tests.
  explicit MetricsPage(std::string text) : text_(std::move(text)) {}

  // The page's size, which may not grow without end.
  [[nodiscard]] std::size_t bytes() const { return text_.size(); }
  // As the server wrote it.
  [[nodiscard]] const std::string& text() const { return text_; }
  // The sum of a metric's samples whose labels hold `label`, such as `part="masks"`; 0 without any.
  [[nodiscard]] double Sum(absl::string_view metric, absl::string_view label = "") const;

 private:
  std::string text_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_METRICS_PAGE_H_
