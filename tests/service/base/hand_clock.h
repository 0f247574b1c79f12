// A clock whose time goes on when it is told to. Nobody waits by it.
#ifndef MASKD_TESTS_SERVICE_BASE_HAND_CLOCK_H_
#define MASKD_TESTS_SERVICE_BASE_HAND_CLOCK_H_

#include <chrono>

#include "grammar_core/base/clock.h"

namespace maskd::service {

class HandClock : public Clock {
 public:
  TimePoint Now() override { return now_; }
  void WaitUntil(CondVar* /*changed*/, Mutex* /*mutex*/, TimePoint /*until*/) override {}
  void Advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{std::chrono::hours(1)};
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_BASE_HAND_CLOCK_H_
