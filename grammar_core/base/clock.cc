#include "grammar_core/base/clock.h"

namespace maskd {
namespace {

class SteadyClock : public Clock {
 public:
  TimePoint Now() override { return std::chrono::steady_clock::now(); }
  void WaitUntil(CondVar* changed, Mutex* mutex, TimePoint until) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    changed->WaitUntil(mutex, until);
  }
};

}  // namespace

Clock* Clock::Steady() {
  static SteadyClock clock;
  return &clock;
}

}  // namespace maskd
