// Makes masks of new grammars ahead, on one thread of the lowest priority: see
// grammar_core/compile/warm_up.h.
//
// Bounds   a grammar that comes while many wait is left out; one that nobody holds any more by its
//          turn is left out too.
// Threads  any may add. The destructor cancels what runs and waits for it.
#ifndef MASKD_SERVICE_WARM_UP_QUEUE_H_
#define MASKD_SERVICE_WARM_UP_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "cache/single_flight.h"
#include "cache/work_pool.h"

namespace maskd::service {

class WarmUpQueue {
 public:
  // At most `wall_ms` a grammar; 0: none.
  explicit WarmUpQueue(std::int64_t wall_ms);
  ~WarmUpQueue();
  WarmUpQueue(const WarmUpQueue&) = delete;
  WarmUpQueue& operator=(const WarmUpQueue&) = delete;

  void Add(const cache::GrammarPtr& grammar);

 private:
  const std::int64_t wall_ms_;
  std::atomic<bool> cancelled_ = false;
  cache::WorkPool pool_;  // last: its thread uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WARM_UP_QUEUE_H_
