// Deals the items of a loop to those who work on it.
//
//   ItemBlocks blocks(items.size(), 2);
//   for (std::size_t at; blocks.Take(worker, &at);) Act(items[at]);
//
// Order    each worker has a block of items that lie side by side, in ascending order, and takes of
//          the blocks behind it when its own is done. So in loop after loop over the same items
//          most of them stay with one worker, and what they touch stays in its core's cache: two
//          threads make the masks of 256 rows at 1.46 times one's speed, and at 1.37 where each
//          takes the next item of all (docs/design/threads.md).
// Threads  any; the workers of one number may be several threads.
#ifndef MASKD_CACHE_ITEM_BLOCKS_H_
#define MASKD_CACHE_ITEM_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <vector>

namespace maskd::cache {

// The items of one loop, each of which is dealt once.
class ItemBlocks {
 public:
  // Items 0 to `items` - 1, for `workers` of at least 1.
  ItemBlocks(std::size_t items, std::size_t workers);

  // The next item of `worker`, which is below the count of workers. False where none is left.
  [[nodiscard]] bool Take(std::size_t worker, std::size_t* item);

 private:
  struct alignas(64) Block {  // a cache line each: workers do not wait for each other's counts
    std::atomic<std::size_t> next;
    std::size_t end;
  };

  std::vector<Block> blocks_;
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_ITEM_BLOCKS_H_
