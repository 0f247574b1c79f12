// Makes masks ahead: of new grammars, and behind the places where sequences stand. See
// grammar_core/compile/warm_up.h.
//
// Grammars  on one thread of long work (cpu/thread_priority.h), which does not starve: a step may
//           wait for what it holds. A grammar that comes while many wait is left out, and so is
//           one that nobody holds any more by its turn. While a compile waits none is begun, and
//           the one at work is cut short and comes again behind the others.
// Places    on one thread of long work: a step that needs what it is at waits for it. It begins
//           when a stream has been idle for a moment, and ends what it does for it when the
//           stream's next step comes.
// Threads   any may add. The destructor cancels what runs and waits for it.
#ifndef MASKD_SERVICE_GRAMMARS_WARM_UP_QUEUE_H_
#define MASKD_SERVICE_GRAMMARS_WARM_UP_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cache/single_flight.h"
#include "cache/work_pool.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/matcher/prefetch_place.h"

namespace maskd::service {

// Places that one step left behind, and how far the queue got with them.
struct PlacesToLookAhead {
  std::vector<PrefetchPlace> places;
  std::atomic<bool> over = false;  // the next step has begun: no further one is to be begun
  std::atomic<int> finished = 0;   // so many of them, from the first on
};

// The work that is done ahead, and the threads that do it.
class WarmUpQueue {
 public:
  // At most `wall_ms` a grammar and `look_ahead_masks` a place; 0: none.
  WarmUpQueue(std::int64_t wall_ms, int look_ahead_masks);
  ~WarmUpQueue();
  WarmUpQueue(const WarmUpQueue&) = delete;
  WarmUpQueue& operator=(const WarmUpQueue&) = delete;

  // Has the masks of its beginning made, if anybody still holds it then.
  void Add(const cache::GrammarPtr& grammar);

  // Says by how much the number of compiles that wait for a thread has changed, as
  // WorkPool::WaitingChanged does.
  void CompilesWaitingChanged(int change) ABSL_LOCKS_EXCLUDED(mutex_);

  // Left out when too many wait.
  void LookAhead(std::shared_ptr<PlacesToLookAhead> places);
  [[nodiscard]] bool looks_ahead() const { return look_ahead_masks_ > 0; }

 private:
  // Waits until no compile waits. False: the queue ends.
  bool AwaitTurn() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::int64_t wall_ms_;
  const int look_ahead_masks_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> is_cut_short_ = false;  // while a compile waits, and from the end on
  Mutex mutex_;
  CondVar changed_;
  int compiles_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  cache::WorkPool grammars_;  // last: their threads use all of the above
  cache::WorkPool places_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_WARM_UP_QUEUE_H_
