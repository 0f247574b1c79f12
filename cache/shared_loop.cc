#include "cache/shared_loop.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cache/item_blocks.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::cache {
namespace {

// Items for which one more helper is asked for: fewer are done before it has woken up.
constexpr std::size_t kItemsAHelper = 4;
constexpr std::size_t kCaller = 0;  // the number of the caller among the workers

// How many are asked for: idle threads of the pool, less `spare`.
std::size_t CountHelpers(const WorkPool& pool, std::size_t spare, std::size_t count) {
  const std::size_t threads = pool.thread_count();
  const std::size_t busy = std::min(threads, pool.working() + spare);
  return std::min(threads - busy, count / kItemsAHelper);
}

// The loop as its helpers see it. It outlives the caller's call, `act_` does not: nobody calls it
// once the loop is closed and no helper is at work.
class SharedLoop : public std::enable_shared_from_this<SharedLoop> {
 public:
  SharedLoop(WorkPool* pool, std::size_t helpers, std::size_t count,
             const std::function<void(std::size_t)>* act)
      : pool_(pool), helpers_(helpers), act_(act), items_(count, 1 + helpers) {}

  void AskForHelp() {
    for (std::size_t i = 1; i <= helpers_; ++i) {
      const auto job = pool_->Submit([self = shared_from_this(), i] { self->Help(i); });
      if (!job.has_value()) return;
      jobs_.push_back(*job);
    }
  }

  void Run(const std::function<bool()>& is_over) {
    std::size_t at = 0;
    while (!is_over() && Next(kCaller, &at)) (*act_)(at);
  }

  // Waits for helpers that are at an item.
  void Close() {
    is_closed_ = true;
    for (const WorkPool::JobId job : jobs_) pool_->Withdraw(job);
    const MutexLock lock(&mutex_);
    may_begin_ = false;
    while (helping_ > 0) changed_.Wait(&mutex_);
  }

 private:
  // A helper's time between beginning and end: as long as it lives, Close() waits.
  class Shift {
   public:
    explicit Shift(SharedLoop* loop) : loop_(loop) {
      const MutexLock lock(&loop_->mutex_);
      is_on_ = loop_->may_begin_;
      if (is_on_) ++loop_->helping_;
    }
    Shift(const Shift&) = delete;
    Shift& operator=(const Shift&) = delete;
    ~Shift() {
      if (!is_on_) return;
      const MutexLock lock(&loop_->mutex_);
      --loop_->helping_;
      loop_->changed_.NotifyAll();
    }
    [[nodiscard]] bool is_on() const { return is_on_; }

   private:
    SharedLoop* const loop_;
    bool is_on_ = false;
  };

  [[nodiscard]] bool Next(std::size_t worker, std::size_t* at) {
    return !is_closed_ && items_.Take(worker, at);
  }

  void Help(std::size_t worker) {
    if (!HelpForASlice(worker)) return;
    (void)pool_->Submit([self = shared_from_this(), worker] { self->Help(worker); });
  }

  // Whether there may be more to do.
  bool HelpForASlice(std::size_t worker) {
    const Shift shift(this);
    if (!shift.is_on()) return false;
    const Clock::TimePoint end = Clock::Steady()->Now() + kSharedLoopSlice;
    std::size_t at = 0;
    while (Next(worker, &at)) {
      (*act_)(at);
      if (Clock::Steady()->Now() >= end) return true;
    }
    return false;
  }

  WorkPool* const pool_;
  const std::size_t helpers_;
  const std::function<void(std::size_t)>* const act_;
  ItemBlocks items_;
  std::vector<WorkPool::JobId> jobs_;  // the caller's
  std::atomic<bool> is_closed_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool may_begin_ ABSL_GUARDED_BY(mutex_) = true;
  int helping_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void RunShared(WorkPool* pool, std::size_t spare, std::size_t count,
               const std::function<void(std::size_t)>& act, const std::function<bool()>& is_over) {
  const auto loop =
      std::make_shared<SharedLoop>(pool, CountHelpers(*pool, spare, count), count, &act);
  // However the loop ends: helpers see what is the caller's.
  struct AtEnd {
    SharedLoop* loop;
    ~AtEnd() { loop->Close(); }
  } const at_end{loop.get()};
  loop->AskForHelp();
  loop->Run(is_over);
}

}  // namespace maskd::cache
