// When pages that nothing lives in are to go back to the system: once more than a floor of them has
// stayed unused for some seconds. What is used again within that time stays.
//
// Threads  one thread at a time.
#ifndef MASKD_MEMORY_HEAP_TRIMMER_H_
#define MASKD_MEMORY_HEAP_TRIMMER_H_

#include <chrono>
#include <cstdint>
#include <limits>

#include "grammar_core/base/clock.h"

namespace maskd::memory {

// Decides only; whoever asks it trims.
class HeapTrimmer {
 public:
  static constexpr std::chrono::seconds kAfter{2};

  // `floor_bytes` stay for good, and so does a quarter more, so that little is not given to and
  // fro.
  explicit HeapTrimmer(std::int64_t floor_bytes) : floor_bytes_(floor_bytes) {}

  // Whether to trim to floor_bytes() now.
  bool Look(Clock::TimePoint now, std::int64_t unused_bytes);

  // What TrimHeap() is to keep.
  [[nodiscard]] std::int64_t floor_bytes() const { return floor_bytes_; }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kSlackBytes = 16 << 20;

  const std::int64_t floor_bytes_;
  Clock::TimePoint begin_ = Clock::TimePoint::min();  // of the time that is looked at
  std::int64_t least_unused_ = kNone;                 // in that time
};

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_HEAP_TRIMMER_H_
