// The server's counters, gauges and histograms, as verbs of what happened.
//
// Series   every one is there from the start with 0, so that the first event is an increase.
// Cost     an event is one or two atomic additions; CompileDone and Refused look a label up.
// Threads  every method from any thread.
// Ownership  outlives whoever reports to it and whoever serves it.
#ifndef MASKD_METRICS_REGISTRY_H_
#define MASKD_METRICS_REGISTRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "metrics/figures.h"

namespace prometheus {
class Collectable;
class Registry;
}  // namespace prometheus

namespace maskd::metrics {

// How a row was answered; the label values are in registry.cc, in this order.
enum class RowOutcome { kCompiling, kActive, kFinished, kFailed, kRefused, kRefusedToken };
inline constexpr int kRowOutcomeCount = 6;

// How a look-up in the cache ended.
enum class CacheOutcome { kHit, kNegativeHit, kJoined, kMiss };
inline constexpr int kCacheOutcomeCount = 4;

// How the steps of a stream travel; the label values are in registry.cc, in this order.
enum class Transport { kGrpc, kSharedMemory };
inline constexpr int kTransportCount = 2;

// How a mask is said; the label values are in registry.cc, in this order.
enum class SentForm { kFull, kSameAs, kAllowedIds, kForbiddenIds, kDelta, kDense };
inline constexpr int kSentFormCount = 6;

// Where a step's time went; the label values are in registry.cc, in this order.
struct StepPhases {
  double read = 0;   // the message
  double apply = 0;  // closes, forks, opens and tokens
  double masks = 0;  // the answers, and what it takes to hand the step to another thread
  double write = 0;  // the reply
};
// Where a compile's time went.
struct CompilePhases {
  double reduce = 0;  // from what was read to the grammar's rules
  double automaton = 0;
  double first_mask = 0;
};

// One for each server. Tests read it through registry().
class Metrics {
 public:
  // `kinds` are the table of front ends.
  explicit Metrics(absl::string_view version, const std::vector<std::string>& kinds = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A kind that is none of those given counts as kOther.
  void CompileDone(absl::string_view kind, absl::string_view code, double seconds);
  // How long it was in the queue of the threads that compile.
  void CompileWaited(double seconds);
  // A text was read, in so long. One that came before mostly is not.
  void TextRead(double seconds);
  void CompileSpent(const CompilePhases& phases);
  // How long the message lay before its stream's thread took it.
  void StepWaited(double seconds);
  void StepSpent(const StepPhases& phases);
  void StepDone(double seconds);
  void StepBytes(Transport transport, std::size_t received, std::size_t sent);
  void StreamBegan(Transport transport);
  void RowsAnswered(RowOutcome outcome, int count);
  // As docs/errors.md has it; another reason is kOther.
  void RowErred(absl::string_view reason);
  void MasksSent(SentForm form, int count);
  void DraftTokens(int accepted, int refused);
  void CacheRequest(CacheOutcome outcome);
  void CacheEvictions(int count);
  void CacheSize(std::int64_t bytes, std::int64_t grammars);
  void CompileQueueChanged(int change);
  void StreamsOpenChanged(int change);
  void RowsOpenChanged(int change);
  // Reasons that docs/errors.md lists under a code have a label; others are kOther.
  void Refused(absl::string_view code, absl::string_view reason);

  // Has `read` asked at each scrape; what it uses outlives this. Before it is served.
  void AddFigures(ReadFigures read);

  // All there is to scrape.
  [[nodiscard]] const std::shared_ptr<prometheus::Collectable>& scraped() const { return scraped_; }
  // Without the figures, for tests.
  [[nodiscard]] const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  struct Instruments;
  class Scraped;

  std::shared_ptr<prometheus::Registry> registry_;
  std::unique_ptr<Instruments> instruments_;
  std::vector<ReadFigures> figures_;
  std::shared_ptr<prometheus::Collectable> scraped_;
};

}  // namespace maskd::metrics

#endif  // MASKD_METRICS_REGISTRY_H_
