// How threads that work long stand back from those that answer.
//
// Why      a thread that has just begun to compute keeps its core for a slice of milliseconds, even
//          where one of the same priority is woken to answer. One of a lower priority mostly gives
//          way at once: since Linux 6.12 where its slice is the longer one, too.
// Threads  any; each call is about the calling thread.
#ifndef MASKD_CPU_THREAD_PRIORITY_H_
#define MASKD_CPU_THREAD_PRIORITY_H_

#include <chrono>

namespace maskd {

// Of threads that make masks, compile, or go on with long steps: they share what is left alike. At
// 19 a millisecond of their work would take 96 beside one busy thread, at this 12.
inline constexpr int kLongWorkNiceness = 10;
// Longer than any slice that a kernel gives by itself (2.8 ms).
inline constexpr std::chrono::nanoseconds kLongWorkSlice{4'000'000};

// Makes the calling thread nicer than the process is, with longer slices. On Linux both are a
// thread's own. Without the right to it the thread runs like any other.
void StandBack(int niceness = kLongWorkNiceness);

}  // namespace maskd

#endif  // MASKD_CPU_THREAD_PRIORITY_H_
