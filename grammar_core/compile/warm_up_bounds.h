// Where a prefetch of masks ends.
//
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_BOUNDS_H_
#define MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_BOUNDS_H_

#include <cstdint>

namespace maskd {

// Whichever comes first.
struct WarmUpBounds {
  int masks = 8192;
  // The prefetch's own deadline: how far it gets is no one's verdict.
  std::int64_t wall_ms = 10;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_BOUNDS_H_
