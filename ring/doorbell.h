// How a side sleeps until the other has done something: a word in the shared memory that says what
// it sleeps for, and the kernel's futex on it. Who finds no sleeper makes no system call.
//
// Wake-ups may come for nothing. The other side can write the word as it likes: so no sleep of
//          a stream is longer than kLongestSleep, and whoever sleeps looks at his own reasons
//          again.
// Threads  one sleeper; Ring() and Wake() from any thread of any process.
// Source   futex(2); the word is shared, so not FUTEX_PRIVATE.
#ifndef MASKD_RING_DOORBELL_H_
#define MASKD_RING_DOORBELL_H_

#include <cstdint>

#include "absl/time/time.h"

#include "ring/shared_memory.h"

namespace maskd::ring {

// What a side sleeps for: bits of its word, 0 while it is awake.
enum Reason : std::uint32_t { kBytes = 1, kRoom = 2 };

inline constexpr absl::Duration kLongestSleep = absl::Seconds(1);

// Says that this side is about to sleep. It must look once more before it does.
void Announce(Word* bell, std::uint32_t reasons);
// Sleeps until the word is changed and rung, for `longest` at most. Whether it was rung, rather
// than the time over.
bool Sleep(Word* bell, std::uint32_t reasons, absl::Duration longest);
// Wakes the sleeper if it sleeps for `reason`; what it shall see must have been written before.
void Ring(Word* bell, Reason reason);
// Wakes the sleeper whatever it sleeps for.
void Wake(Word* bell);

}  // namespace maskd::ring

#endif  // MASKD_RING_DOORBELL_H_
