// Masks that all grammars of one tokenizer share, and what they are made from.
//
//   by content   equal masks are one object.
//   by parts     the mask that stored masks and single tokens make, see MaskParts.
//   by key       the mask of every state whose first cells have these keys (see terms/term.h). A
//                key is a chain: one cell is looked at after the other, only as far as needed.
//   by tail      the signature of every tail whose first cells have these keys.
//   by class     tokens within a CharacterClass, and tries of a CandidateClass.
//   by exit      tokens that leave a cell by a byte, see Exits.
//   by run       tokens that begin with a run of bytes of a set, see RunIndex; whole ones by their
//                length.
//
// Bounds   masks by content, kept in two generations (two_generations.h): together they have
//          `max_bytes`. Tries, exits and runs have an eighth of that each. Keys hold no mask alive;
//          they and classes are bounded by count. All of it can be made again: Shrink() drops it.
// Threads  internally synchronised; each table has its locks, which guard look-ups only: a mask is
//          made outside of them, and so ends what is dropped.
#ifndef MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_
#define MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/mask/locked_table.h"
#include "grammar_core/mask/run_index.h"
#include "grammar_core/mask/sparse_mask.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/mask/token_mask.h"

namespace maskd {

// Tokens that begin with a whole text of one cell, then have a certain byte, by what comes after
// it.
struct Exits {
  std::vector<TokenId> ends;  // nothing comes after the byte
  TokenTrie rests;            // what comes after the byte

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;
};

// A mask as what it is made of: (the stored masks without the tokens taken away), and the single
// tokens.
struct MaskParts {
  std::vector<MaskRef> masks;
  std::vector<TokenId> removed;
  std::vector<TokenId> ids;

  // Written out, at the cost of a mask's words and one pass for each part.
  [[nodiscard]] TokenMask ToMask(int vocab_size) const;
};

// One for each tokenizer, shared by all threads that step or compile.
class MaskStore {
 public:
  // `index` must outlive this.
  MaskStore(const TokenIndex* index, std::int64_t max_bytes);

  // The index of the vocabulary that all of these masks are for.
  [[nodiscard]] const TokenIndex& index() const { return *index_; }

  // The stored mask equal to `mask`, or `mask` itself, stored now. `like` are masks that it may be
  // near to (StoreMask).
  MaskRef Intern(TokenMask mask, std::span<const MaskRef> like = {});

  // The same of a mask that is put together from few words.
  MaskRef Intern(SparseMask mask);

  // The stored mask of these parts, whose masks are from this store.
  MaskRef Assemble(MaskParts parts);

  // The stored mask of the tokens of `mask`, which is from this store, that begin with no run of
  // more than `most` bytes of `set`; `runs` are those of `set`.
  MaskRef WithoutLonger(const MaskRef& mask, const std::bitset<256>& set, const RunIndex& runs,
                        std::uint32_t most);

  // What is known of a chain of cell keys.
  struct Known {
    MaskRef mask;         // the mask, if this chain settles it
    bool deeper = false;  // it does not: look at one cell more
  };
  // Empty, and not deeper, for a chain that was not seen lately.
  Known Find(const Hash128& chain);
  // Says that `chain` settles the mask, or (null) that it takes more cells.
  void Settle(const Hash128& chain, const MaskRef& mask);

  // The mask of a state that was not seen before was found here, or had to be made.
  void CountLookUp(bool found) {
    (found ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  }

  // The same of signatures (mask_routes/tail_signatures.h).
  struct KnownSignature {
    std::optional<Hash128> signature;
    bool deeper = false;
  };
  // By a chain of cells, as Find() and Settle() do it; without a signature it takes more cells.
  KnownSignature FindSignature(const Hash128& chain);
  void SettleSignature(const Hash128& chain, const std::optional<Hash128>& signature);

  // The index's tokens of a class, and its trie of candidates: each is made once and kept.
  MaskRef TokensWithin(const CharacterClass& characters);
  std::shared_ptr<const TokenTrie> TrieOf(const CandidateClass& candidates);

  // The index's tokens that a text may begin with.
  [[nodiscard]] const MaskRef& text() const { return text_; }

  // The exits stored under `key`, or null.
  std::shared_ptr<const Exits> FindExits(const Hash128& key);
  void PutExits(const Hash128& key, std::shared_ptr<const Exits> exits);

  // The runs of bytes of `set`; made now where no state asked for them before.
  std::shared_ptr<const RunIndex> RunsOf(const std::bitset<256>& set);
  // The tokens that are a run of at most `most` bytes of `set` and nothing else; `runs` are those
  // of `set`.
  MaskRef WholeRuns(const std::bitset<256>& set, const RunIndex& runs, std::uint32_t most);

  // Forgets what was not used lately, and everything if it still holds more than `to_bytes` then.
  // Masks in use stay alive with their users.
  void Shrink(std::int64_t to_bytes);
  void Clear() { Shrink(-1); }

  // What is kept now. The counters of look-ups are apart.
  struct Stats {
    std::int64_t masks = 0;  // by content
    std::int64_t keys = 0;
    std::int64_t held_bytes = 0;  // of all that it keeps, tables included, roughly
    std::int64_t mask_bytes = 0;  // of that the masks: StoredMaskBytes() has these too
    std::int64_t hits = 0;        // as counted by CountLookUp()
    std::int64_t misses = 0;
  };
  // Takes the locks one after the other; a scrape of the metrics may call it.
  [[nodiscard]] Stats stats() const;

 private:
  static constexpr std::size_t kMaxKeys = 1 << 20;
  static constexpr std::size_t kMaxSignatures = 1 << 17;
  static constexpr std::size_t kMaxClasses = 512;
  static constexpr std::size_t kMaxParts = 1 << 16;
  // A run index holds up to some megabytes.
  static constexpr std::size_t kMaxRuns = 32;
  // White space is bounded to few lengths.
  static constexpr std::size_t kMaxWholeRuns = 512;

  struct ByteSetKey {
    std::bitset<256> set;
    bool operator==(const ByteSetKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const ByteSetKey& key) {
      return H::combine(std::move(state), std::hash<std::bitset<256>>()(key.set));
    }
  };

  struct RunKey {
    std::bitset<256> set;
    int most;
    bool operator==(const RunKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const RunKey& key) {
      return H::combine(std::move(state), std::hash<std::bitset<256>>()(key.set), key.most);
    }
  };

  struct KeyEntry {
    std::weak_ptr<const TokenMask> mask;
    bool deeper = false;
  };

  // Parts in one list, for exact comparison: how many of each, their numbers.
  using PartsKey = std::vector<std::uint64_t>;

  struct BytesOfKey {
    // What the table keeps of an entry beside its place.
    std::int64_t operator()(const PartsKey& key, const std::weak_ptr<const TokenMask>&) const {
      return static_cast<std::int64_t>(key.size() * sizeof(key[0]));
    }
  };
  struct BytesOfValue {
    // What the value says that it holds; keys hold no memory.
    template <typename Key, typename Value>
    std::int64_t operator()(const Key&, const std::shared_ptr<const Value>& value) const {
      return value == nullptr ? 0 : value->held_bytes();
    }
  };
  // Tables that every new mask is looked up in by all threads.
  static constexpr std::size_t kShards = 16;

  template <typename Key, typename Value>
  using Shared = LockedTable<Key, std::shared_ptr<const Value>, BytesOfValue>;
  using ByContent = Shared<std::uint64_t, TokenMask>;  // one shard: a tight bound of bytes
  using ByParts = LockedTable<PartsKey, std::weak_ptr<const TokenMask>, BytesOfKey, kShards>;
  using ByKey = LockedTable<Hash128, KeyEntry, NoBytes, kShards>;
  using Signatures = LockedTable<Hash128, std::optional<Hash128>, NoBytes, kShards>;
  using ByClass = Shared<CharacterClass, TokenMask>;
  using Tries = Shared<CandidateClass, TokenTrie>;  // null for the index's own
  using ExitsByKey = Shared<Hash128, Exits>;
  using Runs = Shared<ByteSetKey, RunIndex>;
  using ByRun = Shared<RunKey, TokenMask>;

  using Masks = std::vector<MaskRef>;

  // Of masks that are not compact, those that others are compared with.
  static constexpr std::size_t kMaxDense = 32;
  // A new stored mask; where it is not compact, later ones are compared with it.
  MaskRef Add(TokenMask mask, std::span<const MaskRef> like = {});
  std::shared_ptr<const Masks> DenseMasks() ABSL_LOCKS_EXCLUDED(dense_mutex_);
  void AddDense(const MaskRef& mask) ABSL_LOCKS_EXCLUDED(dense_mutex_);

  // Drops the older generation of everything.
  void Age() ABSL_LOCKS_EXCLUDED(dense_mutex_);

  const TokenIndex* const index_;
  std::atomic<std::int64_t> hits_ = 0;
  std::atomic<std::int64_t> misses_ = 0;
  ByContent by_content_;
  ByParts by_parts_;
  ByKey by_key_;
  Signatures signatures_;
  ByClass within_;
  Tries tries_;
  ExitsByKey exits_;
  Runs runs_;
  ByRun whole_runs_;
  Mutex dense_mutex_;
  std::shared_ptr<const Masks> dense_ ABSL_GUARDED_BY(dense_mutex_) = std::make_shared<Masks>();
  const MaskRef text_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_MASK_STORE_H_
