#include "cache/shared_loop.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::cache {
namespace {

// Items for which one more helper is asked for: fewer are done before it has woken up.
constexpr std::size_t kItemsAHelper = 4;

// The loop as its helpers see it. It outlives the caller's call, `act_` does not: nobody calls it
// once the loop is closed and no helper is at work.
class SharedLoop : public std::enable_shared_from_this<SharedLoop> {
 public:
  SharedLoop(WorkPool* pool, std::size_t count, const std::function<void(std::size_t)>* act)
      : pool_(pool), count_(count), act_(act) {}

  void AskForHelp(std::size_t spare) {
    const std::size_t threads = pool_->thread_count();
    const std::size_t busy = std::min(threads, pool_->working() + spare);
    const std::size_t helpers = std::min(threads - busy, count_ / kItemsAHelper);
    for (std::size_t i = 0; i < helpers; ++i) {
      const auto job = pool_->Submit([self = shared_from_this()] { self->Help(); });
      if (!job.has_value()) return;
      jobs_.push_back(*job);
    }
  }

  void Run(const std::function<bool()>& is_over) {
    std::size_t at = 0;
    while (!is_over() && Next(&at)) (*act_)(at);
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

  [[nodiscard]] bool Next(std::size_t* at) {
    if (is_closed_) return false;
    *at = next_++;
    return *at < count_;
  }

  void Help() {
    if (HelpForASlice()) (void)pool_->Submit([self = shared_from_this()] { self->Help(); });
  }

  // Whether there may be more to do.
  bool HelpForASlice() {
    const Shift shift(this);
    if (!shift.is_on()) return false;
    const Clock::TimePoint end = Clock::Steady()->Now() + kSharedLoopSlice;
    std::size_t at = 0;
    while (Next(&at)) {
      (*act_)(at);
      if (Clock::Steady()->Now() >= end) return true;
    }
    return false;
  }

  WorkPool* const pool_;
  const std::size_t count_;
  const std::function<void(std::size_t)>* const act_;
  std::vector<WorkPool::JobId> jobs_;  // the caller's
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_closed_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool may_begin_ ABSL_GUARDED_BY(mutex_) = true;
  int helping_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void RunShared(WorkPool* pool, std::size_t spare, std::size_t count,
               const std::function<void(std::size_t)>& act, const std::function<bool()>& is_over) {
  const auto loop = std::make_shared<SharedLoop>(pool, count, &act);
  // However the loop ends: helpers see what is the caller's.
  struct AtEnd {
    SharedLoop* loop;
    ~AtEnd() { loop->Close(); }
  } const at_end{loop.get()};
  loop->AskForHelp(spare);
  loop->Run(is_over);
}

}  // namespace maskd::cache
