// How threads that answer and threads that work long share the cores.
//
// Why      a thread that has just begun to compute keeps its core for a slice of milliseconds, even
//          where one that answers is woken. One of a lower priority mostly gives way at once. Where
//          it does not, Linux looks again at its next tick, 4 ms later at most, unless the thread
//          offers its core.
// Threads  any; each call is about the calling thread. On Linux priority and slice are a thread's
//          own, and threads that it starts begin with them. Other systems have priorities alone.
// Errors   none: without the right to it a thread runs like any other.
#ifndef MASKD_CPU_THREAD_PRIORITY_H_
#define MASKD_CPU_THREAD_PRIORITY_H_

#include <cstdint>

namespace maskd {

// What a thread does.
enum class ThreadRole : std::uint8_t {
  kAnswers,   // answers callers, for less than a millisecond at a time
  kLongWork,  // compiles, makes masks, goes on with a long step: offers its core as it does
};

// Sets the calling thread's niceness, beyond the process's, and its slice. A thread of long work
// leaves a real-time policy, at which a niceness says nothing. At each OfferCore() it calls
// `offer`, which is sched_yield() without a word; tests count the calls.
void TakeRole(ThreadRole role, void (*offer)() = nullptr);

// Gives the core to whoever waits for it, where the calling thread is of long work. To be
// called every 0.1 to 0.2 ms of work. Costs a system call there, elsewhere a comparison.
void OfferCore();

// The same for work in small pieces: once for every 512 units that the thread spends. A unit is
// some 0.2 us.
void OfferCoreAfter(std::int64_t units);

}  // namespace maskd

#endif  // MASKD_CPU_THREAD_PRIORITY_H_
