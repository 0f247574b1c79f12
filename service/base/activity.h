// Since when a thread has been at one piece of work: for whoever watches that it comes to its end.
//
//   { const Activity::Work work(&activity, now); Serve(event); }
//
// Cost     two writes a piece of work.
// Threads  one works, any asks.
#ifndef MASKD_SERVICE_BASE_ACTIVITY_H_
#define MASKD_SERVICE_BASE_ACTIVITY_H_

#include <atomic>
#include <optional>

#include "grammar_core/base/clock.h"

namespace maskd::service {

// What one thread is at, for others to see since when.
class Activity {
 public:
  // The thread is at work while this lives.
  class Work {
   public:
    // It begins at `now`, of the steady clock. `activity` must outlive this, and nothing else of
    // the thread may be at work.
    Work(Activity* activity, Clock::TimePoint now) : activity_(activity) {
      activity_->since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    ~Work() { activity_->since_.store(kIdle, std::memory_order_relaxed); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    Activity* const activity_;
  };

  // Nothing while it is idle.
  [[nodiscard]] std::optional<Clock::TimePoint> since() const {
    const Clock::Duration::rep since = since_.load(std::memory_order_relaxed);
    if (since == kIdle) return std::nullopt;
    return Clock::TimePoint(Clock::Duration(since));
  }

 private:
  static constexpr Clock::Duration::rep kIdle = 0;
  std::atomic<Clock::Duration::rep> since_ = kIdle;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_ACTIVITY_H_
