#include "service/warm_up_queue.h"

#include <sys/resource.h>

#include "grammar_core/compile/warm_up.h"

namespace maskd::service {
namespace {

constexpr std::size_t kMaxWaiting = 64;
constexpr int kLowestPriority = 19;

}  // namespace

WarmUpQueue::WarmUpQueue(std::int64_t wall_ms) : wall_ms_(wall_ms), pool_(1, kMaxWaiting) {
  // On Linux a priority is a thread's own. Without the right to it the thread runs like any other.
  pool_.Submit([] { setpriority(PRIO_PROCESS, 0, kLowestPriority); });
}

WarmUpQueue::~WarmUpQueue() { cancelled_ = true; }

void WarmUpQueue::Add(const cache::GrammarPtr& grammar) {
  if (wall_ms_ == 0) return;
  pool_.Submit([this, waiting = std::weak_ptr(grammar)] {
    const cache::GrammarPtr held = waiting.lock();
    if (held != nullptr) WarmUp(*held, {.wall_ms = wall_ms_}, &cancelled_);
  });
}

}  // namespace maskd::service
