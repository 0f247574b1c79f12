// The masks that one stream's client keeps, by slot: what is in each slot, and which one gives way.
//
// Replacement  the slot worth least: worth is the bytes that its mask costs without the dictionary,
//          counted from its last use, so a large mask outlives small ones but not for ever
//          (GreedyDual, Young 1994).
// Memory   a reference to each mask: the grammar it came from may go while the client still has it.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_SEQUENCES_MASK_DICTIONARY_H_
#define MASKD_SERVICE_SEQUENCES_MASK_DICTIONARY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "grammar_core/mask/token_mask.h"

namespace maskd::service {

// A mask as the words that differ from the mask of `base`; none when they are equal.
struct MaskDelta {
  int base = 0;
  std::vector<std::uint32_t> word_indices;  // ascending
  std::vector<std::uint32_t> words;         // words[i] stands at word_indices[i]
};

// The masks in the slots of one stream.
class MaskDictionary {
 public:
  // `slot_count` may be 0: nothing can be put then.
  explicit MaskDictionary(int slot_count) : slot_count_(slot_count) {}

  // Where a mask was put, and whether another one had to go.
  struct Place {
    int slot;
    bool replaced;  // another mask was there
  };
  // Puts a mask that allows `allowed_count` tokens and costs `cost_bytes` to write in full.
  // Requires slot_count() > 0.
  Place Put(MaskRef mask, int allowed_count, std::int64_t cost_bytes);

  // Says that the slot's mask was used.
  void Touch(int slot);

  // A mask of the dictionary from which `mask`, of `allowed_count` tokens, differs in few words, at
  // most `max_words`: the best of those that allow about as many tokens.
  [[nodiscard]] std::optional<MaskDelta> FindNearest(const TokenMask& mask, int allowed_count,
                                                     int max_words) const;

  // Slots there are, in use or not.
  [[nodiscard]] int slot_count() const { return slot_count_; }

 private:
  struct Slot {
    MaskRef mask;
    int allowed_count;
    std::int64_t cost_bytes;
    std::int64_t worth;
  };

  // Candidates compared at most: the ones after them hardly ever are nearer.
  static constexpr std::size_t kMaxCandidates = 16;

  // The slots to look at for a mask of so many tokens, the nearest count first.
  [[nodiscard]] absl::InlinedVector<int, kMaxCandidates> Candidates(int allowed_count) const;

  const int slot_count_;
  std::vector<Slot> slots_;  // those in use
  // For each mask: how many tokens it allows, and its number; ascending.
  std::vector<std::pair<int, int>> by_count_;
  std::int64_t floor_ = 0;  // the worth of the last mask that gave way
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_MASK_DICTIONARY_H_
