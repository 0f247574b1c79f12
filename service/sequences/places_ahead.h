// Where a stream's rows stand, for masks behind those places to be made between two steps.
//
// Once     a place that was looked behind is remembered and left out from then on; one that the
//          next step came too early for, after a few such steps.
// Threads  one thread at a time; the masks are made by the queue's.
#ifndef MASKD_SERVICE_SEQUENCES_PLACES_AHEAD_H_
#define MASKD_SERVICE_SEQUENCES_PLACES_AHEAD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/prefetch_place.h"
#include "service/grammars/warm_up_queue.h"
#include "service/sequences/sequence.h"

namespace maskd::service {

// The places of one stream's rows, from step to step.
class PlacesAhead {
 public:
  // `queue` is not owned.
  explicit PlacesAhead(WarmUpQueue* queue) : queue_(queue) {}

  // A step begins: what is made of the last one's places stops, and they are forgotten.
  void BeginStep();
  // A row is answered at `position`, a place of `matcher`.
  void Note(const Matcher& matcher, const SequencePosition& position);
  // The step's answer is on its way: the time until the next one begins may be used.
  void LookAhead();
  // Places of this step that are to be looked behind.
  [[nodiscard]] int place_count() const { return static_cast<int>(places_.size()); }

 private:
  WarmUpQueue* const queue_;
  // How often a place was looked behind, and in which step last.
  struct Looks {
    int count = 0;
    std::uint64_t step = 0;
  };

  std::vector<PrefetchPlace> places_;  // of this step
  absl::flat_hash_map<PrefetchPlace::Key, Looks> looks_;
  std::shared_ptr<PlacesToLookAhead> looking_;  // those of the last step, if there were any
  std::uint64_t step_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_PLACES_AHEAD_H_
