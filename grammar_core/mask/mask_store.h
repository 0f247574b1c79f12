// Masks that all grammars of one tokenizer share, and what they are made from.
//
//   by content   equal masks are one object.
//   by parts     the mask that stored masks and single tokens make, see MaskParts.
//   by key       the mask of every state whose first cells have these keys (see automaton/term.h);
//                a key is a chain, so that one cell is looked at after the other only as far as
//                needed.
//   by class     tokens within a CharacterClass, and tries of a CandidateClass.
//   by exit      tokens that leave a cell by a byte, see Exits.
//   by byte      what tokens hold after a certain byte.
//   by run       tokens that begin with a run of bytes of a set, see RunIndex.
//
// Bounds   masks by content, kept in two generations: when the younger one reaches half of
//          `max_bytes` the older one is dropped, so what is used again stays. Keys hold no mask
//          alive. Keys and classes are bounded by count in the same way.
// Threads  internally synchronised; locks guard look-ups only, a mask is made outside of them.
#ifndef MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_
#define MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/mask/run_index.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/mask/token_mask.h"

namespace maskd {

// Tokens that begin with a whole text of one cell, then have a certain byte, by what comes after
// it.
struct Exits {
  std::vector<TokenId> ends;  // nothing comes after the byte
  TokenTrie rests;            // what comes after the byte
};

// A mask as what it is made of: (the stored masks without the tokens taken away), and the single
// tokens.
struct MaskParts {
  std::vector<MaskRef> masks;
  std::vector<TokenId> removed;
  std::vector<TokenId> ids;

  [[nodiscard]] TokenMask ToMask(int vocab_size) const;
};

class MaskStore {
 public:
  // `index` must outlive this.
  MaskStore(const TokenIndex* index, std::int64_t max_bytes);

  [[nodiscard]] const TokenIndex& index() const { return *index_; }

  // The stored mask equal to `mask`, or `mask` itself, stored now. `like` are masks that it may be
  // near to (StoreMask).
  MaskRef Intern(TokenMask mask, std::span<const MaskRef> like = {}) ABSL_LOCKS_EXCLUDED(mutex_);

  // The stored mask of these parts, whose masks are from this store.
  MaskRef Assemble(MaskParts parts) ABSL_LOCKS_EXCLUDED(mutex_);

  // What is known of a chain of cell keys.
  struct Known {
    MaskRef mask;         // the mask, if this chain settles it
    bool deeper = false;  // it does not: look at one cell more
  };
  Known Find(const Hash128& chain) ABSL_LOCKS_EXCLUDED(mutex_);
  // Says that `chain` settles the mask, or (null) that it takes more cells.
  void Settle(const Hash128& chain, const MaskRef& mask) ABSL_LOCKS_EXCLUDED(mutex_);

  MaskRef TokensWithin(const CharacterClass& characters) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<const TokenTrie> TrieOf(const CandidateClass& candidates)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The exits stored under `key`, or null.
  std::shared_ptr<const Exits> FindExits(const Hash128& key) ABSL_LOCKS_EXCLUDED(mutex_);
  void PutExits(const Hash128& key, std::shared_ptr<const Exits> exits) ABSL_LOCKS_EXCLUDED(mutex_);

  // All that tokens hold after a byte `byte`, whichever of them it is; the ids are numbers.
  std::shared_ptr<const TokenTrie> TextsAfter(unsigned char byte) ABSL_LOCKS_EXCLUDED(mutex_);

  std::shared_ptr<const RunIndex> RunsOf(const std::bitset<256>& set) ABSL_LOCKS_EXCLUDED(mutex_);

  // Forgets everything; masks in use stay alive with their users.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_);

  struct Stats {
    std::int64_t masks = 0;
    std::int64_t held_bytes = 0;
    std::int64_t keys = 0;
  };
  [[nodiscard]] Stats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr std::size_t kMaxKeys = 1 << 20;
  static constexpr std::size_t kMaxClasses = 512;
  static constexpr std::size_t kMaxParts = 1 << 16;
  // A run index holds up to some megabytes.
  static constexpr std::size_t kMaxRuns = 32;

  // A map that forgets what was not used since about half of its capacity ago.
  template <typename Key, typename Value>
  class TwoGenerations {
   public:
    Value* Find(const Key& key, std::size_t max_entries) {
      if (const auto at = young_.find(key); at != young_.end()) return &at->second;
      const auto at = old_.find(key);
      if (at == old_.end()) return nullptr;
      Value value = std::move(at->second);
      old_.erase(at);
      return Put(key, std::move(value), max_entries);
    }
    Value* Put(const Key& key, Value value, std::size_t max_entries) {
      if (young_.size() >= max_entries / 2) {
        old_ = std::move(young_);
        young_.clear();
      }
      return &young_.insert_or_assign(key, std::move(value)).first->second;
    }
    void Clear() {
      young_.clear();
      old_.clear();
    }
    [[nodiscard]] std::size_t size() const { return young_.size() + old_.size(); }

   private:
    absl::flat_hash_map<Key, Value> young_;
    absl::flat_hash_map<Key, Value> old_;
  };

  struct ByteSetKey {
    std::bitset<256> set;
    bool operator==(const ByteSetKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const ByteSetKey& key) {
      return H::combine(std::move(state), std::hash<std::bitset<256>>()(key.set));
    }
  };

  struct KeyEntry {
    std::weak_ptr<const TokenMask> mask;
    bool deeper = false;
  };

  // Parts in one list, for exact comparison: how many of each, their numbers.
  using PartsKey = std::vector<std::uint64_t>;

  const TokenIndex* const index_;
  const std::size_t max_masks_;
  mutable Mutex mutex_;
  TwoGenerations<std::uint64_t, MaskRef> by_content_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<PartsKey, std::weak_ptr<const TokenMask>> by_parts_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<Hash128, KeyEntry> by_key_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<CharacterClass, MaskRef> within_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<CandidateClass, std::shared_ptr<const TokenTrie>> tries_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<Hash128, std::shared_ptr<const Exits>> exits_ ABSL_GUARDED_BY(mutex_);
  std::array<std::shared_ptr<const TokenTrie>, 256> texts_after_ ABSL_GUARDED_BY(mutex_);
  TwoGenerations<ByteSetKey, std::shared_ptr<const RunIndex>> runs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_
