// How threads that work long stand back from those that answer.
//
// Why      a thread that has just begun to compute keeps its core for a slice of milliseconds, even
//          where one of the same priority is woken to answer. One of a lower priority mostly gives
//          way at once.
// Threads  any; each call is about the calling thread.
#ifndef MASKD_CPU_THREAD_PRIORITY_H_
#define MASKD_CPU_THREAD_PRIORITY_H_

namespace maskd {

// Of threads that make masks, compile, or go on with long steps: they share what is left alike. At
// 19 a millisecond of their work would take 96 beside one busy thread, at this 12.
inline constexpr int kLongWorkNiceness = 10;

// Makes the calling thread nicer than the process is. On Linux that is a thread's own. Without the
// right to it the thread runs like any other.
void StandBack(int niceness = kLongWorkNiceness);

}  // namespace maskd

#endif  // MASKD_CPU_THREAD_PRIORITY_H_
