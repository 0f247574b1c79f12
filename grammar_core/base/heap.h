// The heap of a process that answers in microseconds: no page of it is touched for the first time
// on the way to an answer.
//
// A page's first touch costs 0.1 us on a bare machine and 2.2 us on the virtual one that the
// figures of this project are from: a mask of Llama 3's vocabulary has four, so making one in fresh
// memory took 9.6 us instead of 0.1.
//
// A compile asks for thousands of small pieces, and a heap that has served grammars and masks for
// long gives them from everywhere: jemalloc, which keeps pieces of a size together, takes a fifth
// off the median compile and a third off the slow ones against glibc's malloc. Programs that link
// maskd::heap have it (MASKD_JEMALLOC, off under sanitizers); libraries leave the choice to their
// users.
//
// Masks and transitions lie all over that heap, so what a step costs beyond its instructions is
// their way into the caches. In pages of 4 KiB each line's address has to be looked up as well. In
// huge pages the masks of documents take a seventh less at p90 and p99. So what is reserved lies in
// huge pages. What comes later does not: the system clears a page of 2 MiB in one go, up to 4 ms on
// a virtual machine, and nothing else runs on that processor.
//
// What is freed stays until somebody asks for it to go back: TrimHeap() gives back what exceeds a
// floor, whose pages stay as they are, and is cheap as long as there is nothing to give.
//
// Threads  ReserveHeap() once, early in main(), before other threads start; the others any.
#ifndef MASKD_GRAMMAR_CORE_BASE_HEAP_H_
#define MASKD_GRAMMAR_CORE_BASE_HEAP_H_

#include <cstdint>
#include <optional>

namespace maskd {

// Makes malloc keep what is freed, and touches `bytes` of its heap now; from then on new pages are
// of 4 KiB. For programs only, never for a library: it changes the whole process. Without jemalloc
// and glibc it does nothing.
void ReserveHeap(std::int64_t bytes);

// Gives the pages that nothing lives in back to the system: for those who measure what is held.
void ReturnFreePages();

// The same, except `keep_bytes` of them, which stay touched.
void TrimHeap(std::int64_t keep_bytes);

// Gives what the calling thread has freed, and kept for itself, to all threads. For one that goes
// idle: 128 that had read texts of 100 KiB kept 33 to 55 MB, and 6 to 9 then. Without jemalloc it
// does nothing.
void EmptyThreadCache();

// As jemalloc counts them, over all threads.
struct HeapBytes {
  std::int64_t allocated = 0;  // asked for and not freed
  std::int64_t resident = 0;   // pages of the heap that the process has, as far as it knows
  std::int64_t unused = 0;     // of these, pages that nothing lives in: what can be given back
};
// Nothing without jemalloc.
std::optional<HeapBytes> ReadHeap();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_HEAP_H_
