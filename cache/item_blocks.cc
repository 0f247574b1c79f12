#include "cache/item_blocks.h"

namespace maskd::cache {

ItemBlocks::ItemBlocks(std::size_t items, std::size_t workers) : blocks_(workers) {
  for (std::size_t i = 0; i < workers; ++i) {
    blocks_[i].next = items * i / workers;
    blocks_[i].end = items * (i + 1) / workers;
  }
}

bool ItemBlocks::Take(std::size_t worker, std::size_t* item) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Block& block = blocks_[(worker + i) % blocks_.size()];
    // Looked at first: a count that went up for each late worker would have no end.
    if (block.next.load(std::memory_order_relaxed) >= block.end) continue;
    *item = block.next.fetch_add(1, std::memory_order_relaxed);
    if (*item < block.end) return true;
  }
  return false;
}

}  // namespace maskd::cache
