// The masks that states of one automaton have, each once, by numbers that states name them by.
//
// Numbers  16 bits, from 1 on. Masks that come when all numbers are given out are kept too, but no
//          state can name them.
// Threads  Keep() and held_bytes() under the owner's lock. A mask whose number was published after
//          Keep() is read by any thread.
#ifndef MASKD_GRAMMAR_CORE_ROWS_KEPT_MASKS_H_
#define MASKD_GRAMMAR_CORE_ROWS_KEPT_MASKS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/hash/hash.h"

#include "grammar_core/base/index_table.h"
#include "grammar_core/base/stable_vector.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Many states have the same mask. It is kept once for all of them, and a number takes a quarter of
// what an address would.
class KeptMasks {
 public:
  using Number = TermStore::MaskNumber;
  static constexpr std::uint32_t kMostNumbers = 0xFFFF;  // without kNoMask

  KeptMasks() = default;
  KeptMasks(const KeptMasks&) = delete;
  KeptMasks& operator=(const KeptMasks&) = delete;

  // Where a mask is kept, as long as this lives, and its number; kNoMask where none was left.
  struct Kept {
    const MaskRef* mask;
    Number number;
    bool is_new;
  };
  Kept Keep(MaskRef mask) {
    const auto [known, hash] = indices_.Find(mask.get());
    const bool is_new = known == IndexTable<ByMask>::kNone;
    const std::uint32_t index = is_new ? masks_.size() : known;
    if (is_new) {
      masks_.Append() = std::move(mask);
      indices_.Add(hash);
    }
    const bool has_number = index < kMostNumbers;
    return {&masks_[index], has_number ? static_cast<Number>(index + 1) : TermStore::kNoMask,
            is_new};
  }
  // The mask of a number that Keep() has given out.
  [[nodiscard]] const MaskRef* At(Number number) const { return &masks_[number - 1U]; }

  // Without the masks.
  [[nodiscard]] std::int64_t held_bytes() const {
    return masks_.chunk_bytes() + indices_.held_bytes();
  }

 private:
  using Masks = StableVector<MaskRef, 2, 4>;
  // Masks by their places.
  struct ByMask {
    const Masks* masks;
    std::size_t operator()(const TokenMask* mask) const { return absl::HashOf(mask); }
    std::size_t operator()(std::uint32_t index) const { return (*this)((*masks)[index].get()); }
    bool operator()(std::uint32_t x, const TokenMask* y) const { return (*masks)[x].get() == y; }
  };

  Masks masks_;
  IndexTable<ByMask> indices_{ByMask{&masks_}};
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_KEPT_MASKS_H_
