// A loop over many items whose order does not matter, run by the calling thread and by those of a
// pool's threads that have nothing else to do.
//
//   RunShared(&pool, 1, rows.size(), [&](std::size_t i) { MakeMask(rows[i]); }, is_cancelled);
//
// Order    each thread begins with its block of the items (cache/item_blocks.h). The caller
//          takes part from the first on, so a pool that is busy makes the loop no slower than it is
//          alone.
// Helpers  as many as the pool has idle threads, less `spare`. A pool of a thread a core can thus
//          leave cores to the caller and to those who answer others.
// Fair     a helper goes back behind all that waits for the pool after kSharedLoopSlice, and is
//          waited for at the item that it has, no longer.
// Cost     some 5 us a helper that begins. An item costs one atomic count.
// Errors   what `act` throws in the caller goes on; in a helper it ends that helper.
// Threads  any, also a thread of the pool.
#ifndef MASKD_CACHE_SHARED_LOOP_H_
#define MASKD_CACHE_SHARED_LOOP_H_

#include <chrono>
#include <cstddef>
#include <functional>

#include "cache/work_pool.h"

namespace maskd::cache {

// How long a helper has a thread of the pool.
inline constexpr std::chrono::milliseconds kSharedLoopSlice{1};

// Calls act(0) to act(count - 1), each once at most and on any of the threads. It begins no further
// item once `is_over`, which the caller's thread alone asks, says so. When
// it returns, no call of `act` runs. `pool` is not owned.
void RunShared(WorkPool* pool, std::size_t spare, std::size_t count,
               const std::function<void(std::size_t)>& act, const std::function<bool()>& is_over);

}  // namespace maskd::cache

#endif  // MASKD_CACHE_SHARED_LOOP_H_
