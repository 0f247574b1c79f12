// Where a stream's rows stand, for masks behind those places to be made between two steps.
//
// Once     a place that was looked behind is remembered and left out from then on.
// Threads  one thread at a time; the masks are made by the queue's.
#ifndef MASKD_SERVICE_PLACES_AHEAD_H_
#define MASKD_SERVICE_PLACES_AHEAD_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "cache/grammar_cache.h"
#include "service/sequence.h"
#include "service/warm_up_queue.h"

namespace maskd::service {

class PlacesAhead {
 public:
  // `queue` is not owned.
  explicit PlacesAhead(WarmUpQueue* queue) : queue_(queue) {}

  // A step begins: what is made of the last one's places stops, and they are forgotten.
  void BeginStep();
  // A row on `grammar` is answered there.
  void Note(const cache::GrammarPtr& grammar, const SequencePosition& position);
  // The step's answer is on its way: the time until the next one begins may be used.
  void LookAhead();

 private:
  WarmUpQueue* const queue_;
  std::vector<RowPlace> places_;  // of this step
  absl::flat_hash_set<std::pair<const CompiledGrammar*, TokenStepper::State>> looked_ahead_;
  std::shared_ptr<std::atomic<bool>> step_over_;  // told to what is made ahead
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PLACES_AHEAD_H_
