// How long one thread may go on with a step before it leaves the rest to another.
//
//   StepTurn turn = StepTurn::Until(&clock, begin + 200us);
//   for (...; !turn.IsOver(); ...) turn.Spend(TakeTokens(row));
//
// Cost     a look at the clock for every few units, some 25 ns. A turn gets on by one thing at
//          least, and is over late by what comes before the next look, which nothing interrupts.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_STREAMS_STEP_TURN_H_
#define MASKD_SERVICE_STREAMS_STEP_TURN_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "grammar_core/base/clock.h"

namespace maskd::service {

// Tokens that are copied, into a snapshot and into its message, in about the time of a unit.
inline constexpr std::int64_t kCopiedTokensAUnit = 128;

// How long a thread goes on with a step.
class StepTurn {
 public:
  // Neither is owned.
  static StepTurn Until(Clock* clock, Clock::TimePoint end) {
    StepTurn turn;
    turn.clock_ = clock;
    turn.end_ = end;
    return turn;
  }
  // To its end, unless somebody says that nobody wants it.
  static StepTurn WhileWanted(const std::function<bool()>* is_cancelled) {
    StepTurn turn;
    turn.is_cancelled_ = is_cancelled;
    return turn;
  }

  // What takes about a token's or a mask's time is a unit.
  void Spend(std::int64_t units) { units_ += units; }
  // Whether it ends by the clock.
  [[nodiscard]] bool is_timed() const { return clock_ != nullptr; }
  bool IsOver() {
    if (is_over_ || units_ < look_after_) return is_over_;
    units_ = 0;
    if (clock_ != nullptr) LookAtClock();
    if (is_cancelled_ != nullptr) is_over_ = is_over_ || (*is_cancelled_)();
    return is_over_;
  }

 private:
  // Units from one look to the next: the second where the last ones were quick, as known masks are.
  static constexpr std::int64_t kUnitsALook = 4;
  static constexpr std::int64_t kQuickUnitsALook = 16;
  static constexpr std::chrono::microseconds kQuick{10};

  StepTurn() = default;

  void LookAtClock() {
    const Clock::TimePoint now = clock_->Now();
    is_over_ = now >= end_;
    look_after_ = now - last_look_ < kQuick ? kQuickUnitsALook : kUnitsALook;
    last_look_ = now;
  }

  Clock* clock_ = nullptr;
  Clock::TimePoint end_;
  Clock::TimePoint last_look_;
  std::int64_t look_after_ = kUnitsALook;
  const std::function<bool()>* is_cancelled_ = nullptr;
  std::int64_t units_ = 0;  // since the last look
  bool is_over_ = false;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STEP_TURN_H_
