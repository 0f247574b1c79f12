// A point of time that no change of the date moves: deadlines are kept in it.
//
// Clock    CLOCK_MONOTONIC. Arithmetic is absl::Time's: what has no end stays without one.
#ifndef MASKD_CLIENT_CPP_BASE_STEADY_TIME_H_
#define MASKD_CLIENT_CPP_BASE_STEADY_TIME_H_

#include <chrono>
#include <compare>
#include <cstdint>

#include "absl/time/time.h"
#include "grpc/support/time.h"

namespace maskd::client {

// A plain value.
class SteadyTime {
 public:
  // Long past.
  constexpr SteadyTime() = default;
  static SteadyTime Now() {
    return SteadyTime(absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()));
  }
  static constexpr SteadyTime Never() { return SteadyTime(absl::InfiniteDuration()); }
  static constexpr SteadyTime LongAgo() { return {}; }

  // For the standard library's waits.
  [[nodiscard]] std::chrono::steady_clock::time_point ToChrono() const {
    return std::chrono::steady_clock::time_point(absl::ToChronoNanoseconds(since_));
  }
  // For gRPC, whose monotonic clock is this one.
  [[nodiscard]] gpr_timespec ForGrpc() const {
    if (since_ == -absl::InfiniteDuration()) return gpr_inf_past(GPR_CLOCK_MONOTONIC);
    if (since_ == absl::InfiniteDuration()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    const timespec at = absl::ToTimespec(since_);
    return {.tv_sec = at.tv_sec,
            .tv_nsec = static_cast<std::int32_t>(at.tv_nsec),
            .clock_type = GPR_CLOCK_MONOTONIC};
  }

  SteadyTime& operator+=(absl::Duration time) {
    since_ += time;
    return *this;
  }
  friend SteadyTime operator+(SteadyTime at, absl::Duration time) { return at += time; }
  friend SteadyTime operator-(SteadyTime at, absl::Duration time) { return at += -time; }
  friend absl::Duration operator-(SteadyTime a, SteadyTime b) { return a.since_ - b.since_; }
  friend bool operator==(SteadyTime a, SteadyTime b) { return a.since_ == b.since_; }
  friend std::strong_ordering operator<=>(SteadyTime a, SteadyTime b) {
    if (a.since_ == b.since_) return std::strong_ordering::equal;
    return a.since_ < b.since_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  constexpr explicit SteadyTime(absl::Duration since) : since_(since) {}

  absl::Duration since_ = -absl::InfiniteDuration();  // the clock's own start
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_BASE_STEADY_TIME_H_
