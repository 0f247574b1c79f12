// How long several threads would take for a loop of items, from what each item took alone.
//
// A model of cache/shared_loop.h for machines with more cores than this one. Each thread takes its
// next item (cache/item_blocks.h) as soon as it has done its last one. Items of one lock never run
// at once: a thread that has such an item waits. Memory that all cores share is not modelled.
#ifndef MASKD_BENCH_MAKESPAN_H_
#define MASKD_BENCH_MAKESPAN_H_

#include <cstddef>
#include <span>

namespace maskd::bench {

struct LoopItem {
  double micros = 0;
  std::size_t lock = 0;  // any number: the items of one lock run one after the other
};

// Microseconds from the call to the last item's end. The caller takes part once it has called
// `threads` - 1 helpers, `call_micros` each; a helper begins `wake_micros` after its call.
double Makespan(std::span<const LoopItem> items, int threads, double call_micros,
                double wake_micros);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_MAKESPAN_H_
