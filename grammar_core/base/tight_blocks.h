// Memory for small things of many sizes that live as long as all of them, side by side.
//
// Memory   blocks of a sixteenth of what there is, so that little of it lies idle. None is given
//          back before all.
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_BASE_TIGHT_BLOCKS_H_
#define MASKD_GRAMMAR_CORE_BASE_TIGHT_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "grammar_core/base/held_bytes.h"

namespace maskd {

// In words of the type `Word`, which say how it is aligned.
template <typename Word>
class TightBlocks {
 public:
  // So many words. What is left of a block that is too short may do for a shorter thing: the
  // longest such end is kept for that, the others are given up.
  Word* Allocate(std::size_t count) {
    std::span<Word>* from = count <= spare_.size() ? &spare_ : &free_;
    if (count > from->size()) {
      if (free_.size() > spare_.size()) spare_ = free_;
      const std::size_t block =
          std::max(count, std::clamp(held_words_ / kIdlePart, kFewestBytes / sizeof(Word),
                                     kMostBytes / sizeof(Word)));
      free_ = {blocks_.emplace_back(new Word[block]).get(), block};
      held_words_ += block;
    }
    Word* const words = from->data();
    *from = from->subspan(count);
    return words;
  }

  // Words of all blocks, whether they are in use or not.
  [[nodiscard]] std::size_t held_words() const { return held_words_; }
  [[nodiscard]] std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(held_words_ * sizeof(Word)) + HeldBytes(blocks_);
  }

 private:
  static constexpr std::size_t kIdlePart = 16;
  static constexpr std::size_t kFewestBytes = 256;
  static constexpr std::size_t kMostBytes = 16'384;

  std::vector<std::unique_ptr<Word[]>> blocks_;
  std::span<Word> free_;   // the end of the last one
  std::span<Word> spare_;  // the longest end of those before
  std::size_t held_words_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_TIGHT_BLOCKS_H_
