// How much of the cache one of its users may take. A grammar counts for whoever had it compiled
// first.
//
// Threads  the cache's lock guards held_bytes; capacity_bytes may be set from any thread.
#ifndef MASKD_CACHE_SHARE_H_
#define MASKD_CACHE_SHARE_H_

#include <atomic>
#include <cstdint>

namespace maskd::cache {

// A tenant's; owned by whoever knows tenants, and by each grammar in the cache that counts for it.
struct Share {
  std::atomic<std::int64_t> capacity_bytes = 0;  // 0: no limit but the cache's
  std::atomic<std::int64_t> held_bytes = 0;      // written under the cache's lock
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_SHARE_H_
