// A clock whose time passes while somebody waits, and the events that happen meanwhile: each at its
// time, on the thread of who waits.
//
// Nesting  an event may lead to a wait: what is due until its end happens inside it. Who waited
//          before looks again when it is over.
// Threads  one.
#ifndef MASKD_TESTS_SERVICE_BASE_SIMULATED_TIME_H_
#define MASKD_TESTS_SERVICE_BASE_SIMULATED_TIME_H_

#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/clock.h"

namespace maskd::service {

class SimulatedTime : public Clock {
 public:
  // `look` is called before time passes: it may find what has come up, and give it a time.
  explicit SimulatedTime(std::function<void()> look = [] {}) : look_(std::move(look)) {}

  TimePoint Now() override { return now_; }
  // Until the next event or `until`.
  void WaitUntil(CondVar* changed, Mutex* mutex, TimePoint until) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  void After(Duration delay, std::function<void()> event) {
    events_.emplace(now_ + delay, std::move(event));
  }
  // All that is due meanwhile happens.
  void Pass(Duration duration);
  // All that is ever due happens.
  void PassAll();

  // A planted fault: an event ends no wait.
  void WakeNobody() { wakes_ = false; }

 private:
  // The next event that is due by `until`; false when there was none, and it is `until`.
  bool HappenBy(TimePoint until);

  const std::function<void()> look_;
  TimePoint now_{std::chrono::hours(1)};
  std::multimap<TimePoint, std::function<void()>> events_;  // equal times in their order
  bool wakes_ = true;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_BASE_SIMULATED_TIME_H_
