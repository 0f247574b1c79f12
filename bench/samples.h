// Measured times and what is said of them.
#ifndef MASKD_BENCH_SAMPLES_H_
#define MASKD_BENCH_SAMPLES_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace maskd::bench {

using Clock = std::chrono::steady_clock;

inline double MicrosSince(Clock::time_point start) {
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return elapsed.count();
}

// The value that `percent` of the samples do not exceed; 0 of none.
inline double Percentile(std::vector<double> samples, double percent) {
  if (samples.empty()) return 0;
  const auto last = static_cast<double>(samples.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(last * percent / 100);
  std::nth_element(samples.begin(), samples.begin() + at, samples.end());
  return samples[static_cast<std::size_t>(at)];
}

// What reading the clock twice takes by itself: a third of what the shortest calls seem to take.
inline double ClockCostMicros() {
  constexpr int kReadings = 10'000;
  std::vector<double> readings;
  for (int i = 0; i < kReadings; ++i) readings.push_back(MicrosSince(Clock::now()));
  return Percentile(readings, 50);
}

}  // namespace maskd::bench

#endif  // MASKD_BENCH_SAMPLES_H_
