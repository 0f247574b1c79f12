#include "metrics/exposer.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

namespace maskd::metrics {

absl::StatusOr<std::unique_ptr<Exposer>> Exposer::Start(const std::string& address,
                                                        const Metrics& metrics) {
  std::unique_ptr<Exposer> exposer(new Exposer());
  try {
    exposer->exposer_ = std::make_unique<prometheus::Exposer>(address, /*num_threads=*/1);
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", address, ": ", error.what()));
  }
  exposer->exposer_->RegisterCollectable(metrics.scraped());
  exposer->port_ = exposer->exposer_->GetListeningPorts().front();
  return exposer;
}

Exposer::~Exposer() = default;

}  // namespace maskd::metrics
