#include "memory/heap_trimmer.h"

#include <algorithm>
#include <utility>

namespace maskd::memory {

bool HeapTrimmer::Look(Clock::TimePoint now, std::int64_t unused_bytes) {
  if (least_unused_ == kNone) begin_ = now;
  least_unused_ = std::min(least_unused_, unused_bytes);
  if (now - begin_ < kAfter) return false;
  const std::int64_t stayed = std::exchange(least_unused_, kNone);
  return stayed > floor_bytes_ + floor_bytes_ / 4 + kSlackBytes;
}

}  // namespace maskd::memory
