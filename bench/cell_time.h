// Time of a simulated cell: events happen one after the other, each at its time.
//
// Threads  one.
#ifndef MASKD_BENCH_CELL_TIME_H_
#define MASKD_BENCH_CELL_TIME_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/clock.h"

namespace maskd::bench {

using Micros = std::chrono::duration<double, std::micro>;
using Seconds = std::chrono::duration<double>;

// The one clock of a cell, which stands while an event happens, and its one source of chance.
class CellTime : public maskd::Clock {
 public:
  explicit CellTime(std::uint64_t seed) : random_(seed) {}

  TimePoint Now() override { return now_; }
  // Nobody who is simulated waits.
  void WaitUntil(CondVar* /*changed*/, Mutex* /*mutex*/,
                 TimePoint until) override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    now_ = std::max(now_, until);
  }
  // Since the beginning.
  [[nodiscard]] Seconds now() const { return now_ - kBegin; }

  void After(Micros delay, std::function<void()> happen) {
    const auto ticks = std::chrono::duration_cast<Duration>(std::max(delay, Micros(0)));
    events_.push({now_ + ticks, planned_++, std::move(happen)});
  }
  // Until a time since the beginning.
  void RunUntil(Seconds end) {
    const TimePoint until = kBegin + std::chrono::duration_cast<Duration>(end);
    while (!events_.empty() && events_.top().at <= until) {
      const Event event = events_.top();
      events_.pop();
      now_ = std::max(now_, event.at);
      event.happen();
    }
    now_ = std::max(now_, until);
  }

  [[nodiscard]] std::mt19937_64& random() { return random_; }
  // Evenly in between.
  [[nodiscard]] double Uniform(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  [[nodiscard]] int Below(int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random_);
  }

 private:
  struct Event {
    TimePoint at;
    std::uint64_t number;  // of two at one time the one that was planned first
    std::function<void()> happen;
    bool operator<(const Event& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  static constexpr TimePoint kBegin{std::chrono::hours(1)};

  std::mt19937_64 random_;
  TimePoint now_ = kBegin;
  std::priority_queue<Event> events_;
  std::uint64_t planned_ = 0;
};

}  // namespace maskd::bench

#endif  // MASKD_BENCH_CELL_TIME_H_
