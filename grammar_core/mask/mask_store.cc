// A table for each way by which a mask is found (locked_table.h). A mask is made and compared
// outside of their locks.
//
// Invariant  a mask that is handed out is the only stored one of its content, as far as the store
//            remembers. Two threads that make one at once may each get their own.
// Cost       a look-up is a hash and a comparison; the dense masks that a new one is compared with
//            are a short list, shared as a whole and read without the lock.
#include "grammar_core/mask/mask_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

// Of `max_bytes`, what tries, exits and runs may have each.
constexpr std::int64_t kPartOfOthers = 8;

// Two to a word; a list of odd length ends in a number that is no id.
void AppendIds(const std::vector<TokenId>& ids, std::vector<std::uint64_t>* key) {
  constexpr std::uint64_t kNone = 0xFFFFFFFF;
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    const std::uint64_t second =
        i + 1 < ids.size() ? static_cast<std::uint32_t>(ids[i + 1]) : kNone;
    key->push_back(second << 32 | static_cast<std::uint32_t>(ids[i]));
  }
}

// What is found, or null.
constexpr auto kCopy = [](const auto* found) { return found == nullptr ? nullptr : *found; };

}  // namespace

MaskStore::MaskStore(const TokenIndex* index, std::int64_t max_bytes)
    : index_(index),
      by_content_({.bytes = max_bytes}),
      by_parts_({.entries = kMaxParts}),
      by_key_({.entries = kMaxKeys}),
      signatures_({.entries = kMaxSignatures}),
      within_({.entries = kMaxClasses}),
      tries_({.entries = kMaxClasses, .bytes = max_bytes / kPartOfOthers}),
      exits_({.entries = kMaxClasses, .bytes = max_bytes / kPartOfOthers}),
      runs_({.entries = kMaxRuns, .bytes = max_bytes / kPartOfOthers}),
      whole_runs_({.entries = kMaxWholeRuns, .bytes = max_bytes / kPartOfOthers}),
      text_(StoreMask(index_->text(), {}, {})) {}

std::int64_t Exits::held_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + ends.capacity() * sizeof(ends[0])) +
         rests.held_bytes();
}

TokenMask MaskParts::ToMask(int vocab_size) const {
  TokenMask mask = masks.empty() ? TokenMask(vocab_size) : *masks.front();
  for (std::size_t i = 1; i < masks.size(); ++i) mask.Merge(*masks[i]);
  for (const TokenId id : removed) mask.Forbid(id);
  for (const TokenId id : ids) mask.Allow(id);
  return mask;
}

MaskRef MaskStore::Intern(TokenMask mask, std::span<const MaskRef> like) {
  const std::uint64_t hash = HashWords(mask.words());
  const MaskRef known = by_content_.Find(hash, kCopy);
  if (known != nullptr && *known == mask) return known;
  MaskRef stored = Add(std::move(mask), like);
  by_content_.Put(hash, stored);
  return stored;
}

MaskRef MaskStore::Intern(SparseMask mask) {
  const std::uint64_t hash = mask.hash();
  MaskRef known = by_content_.Find(hash, kCopy);
  if (known != nullptr && mask.Equals(*known)) return known;
  MaskRef stored = mask.Store();
  by_content_.Put(hash, stored);
  return stored;
}

MaskRef MaskStore::Add(TokenMask mask, std::span<const MaskRef> like) {
  MaskRef stored = StoreMask(std::move(mask), like, *DenseMasks());
  if (!stored->compact()) AddDense(stored);
  return stored;
}

std::shared_ptr<const MaskStore::Masks> MaskStore::DenseMasks() {
  const MutexLock lock(&dense_mutex_);
  return dense_;
}

void MaskStore::AddDense(const MaskRef& mask) {
  const MutexLock lock(&dense_mutex_);
  auto masks = std::make_shared<Masks>();
  masks->reserve(kMaxDense);
  masks->push_back(mask);  // the last one first
  masks->insert(
      masks->end(), dense_->begin(),
      dense_->begin() + static_cast<std::ptrdiff_t>(std::min(dense_->size(), kMaxDense - 1)));
  dense_ = std::move(masks);
}

MaskRef MaskStore::Assemble(MaskParts parts) {
  if (parts.masks.size() == 1 && parts.removed.empty() && parts.ids.empty())
    return std::move(parts.masks.front());
  PartsKey key;
  key.reserve(2 + parts.masks.size() + (parts.removed.size() + parts.ids.size() + 2) / 2);
  key.push_back(parts.masks.size() << 32 | parts.removed.size());
  for (const MaskRef& mask : parts.masks) key.push_back(mask->serial());
  AppendIds(parts.removed, &key);
  AppendIds(parts.ids, &key);
  MaskRef known = by_parts_.Find(
      key, [](const auto* found) { return found == nullptr ? MaskRef() : found->lock(); });
  if (known != nullptr) return known;
  const int vocab_size = index_->vocabulary().size();
  auto sparse = SparseMask::Of({parts.masks, parts.removed, parts.ids}, vocab_size);
  MaskRef mask = sparse.has_value() ? Intern(*std::move(sparse))
                                    : Intern(parts.ToMask(vocab_size), parts.masks);
  by_parts_.Put(key, mask);
  return mask;
}

// Told by the set and the length, as the tokens are some hundred.
MaskRef MaskStore::WithoutLonger(const MaskRef& mask, const std::bitset<256>& set,
                                 const RunIndex& runs, std::uint32_t most) {
  using Words = std::array<std::uint64_t, sizeof set / sizeof(std::uint64_t)>;
  constexpr std::uint64_t kLonger = std::uint64_t{1} << 63;  // no other key begins so
  const auto words = std::bit_cast<Words>(set);
  const PartsKey key = {kLonger, mask->serial(), most, words[0], words[1], words[2], words[3]};
  MaskRef known = by_parts_.Find(
      key, [](const auto* found) { return found == nullptr ? MaskRef() : found->lock(); });
  if (known != nullptr) return known;
  std::vector<TokenId> removed;
  for (const RunToken& token : runs.LongerThan(most)) removed.push_back(token.id);
  MaskRef fewer = Assemble({{mask}, std::move(removed), {}});
  by_parts_.Put(key, fewer);
  return fewer;
}

MaskStore::Known MaskStore::Find(const Hash128& chain) {
  return by_key_.Find(chain, [](const KeyEntry* entry) {
    return entry == nullptr ? Known{} : Known{entry->mask.lock(), entry->deeper};
  });
}

void MaskStore::Settle(const Hash128& chain, const MaskRef& mask) {
  by_key_.Put(chain, {mask, mask == nullptr});
}

MaskStore::KnownSignature MaskStore::FindSignature(const Hash128& chain) {
  return signatures_.Find(chain, [](const std::optional<Hash128>* entry) {
    return entry == nullptr ? KnownSignature{} : KnownSignature{*entry, !entry->has_value()};
  });
}

void MaskStore::SettleSignature(const Hash128& chain, const std::optional<Hash128>& signature) {
  signatures_.Put(chain, signature);
}

MaskRef MaskStore::TokensWithin(const CharacterClass& characters) {
  if (MaskRef known = within_.Find(characters, kCopy); known != nullptr) return known;
  MaskRef mask;
  if (characters.max_chars == CharacterClass::kAnyLength) {
    mask = Add(index_->TokensWithin(characters));
  } else {
    // The characters are a pass over a bitmap for each that is not in the class, the length is one.
    CharacterClass of_any_length = characters;
    of_any_length.max_chars = CharacterClass::kAnyLength;
    const MaskRef longer = TokensWithin(of_any_length);
    TokenMask within = index_->TokensWithin({.ascii = AsciiBits().set(),
                                             .beyond_ascii = true,
                                             .spaces_beyond_ascii = true,
                                             .max_chars = characters.max_chars});
    within.Intersect(*longer);
    mask = Add(std::move(within), {&longer, 1});
  }
  within_.Put(characters, mask);
  return mask;
}

std::shared_ptr<const TokenTrie> MaskStore::TrieOf(const CandidateClass& candidates) {
  const std::shared_ptr<const TokenTrie> whole(std::shared_ptr<void>(), &index_->trie());
  auto known = tries_.Find(candidates, [&whole](const auto* found) {
    return found == nullptr ? nullptr : *found == nullptr ? whole : *found;
  });
  if (known != nullptr) return known;
  auto trie = index_->TrieOf(candidates);
  tries_.Put(candidates, trie.get() == whole.get() ? nullptr : trie);
  return trie;
}

std::shared_ptr<const Exits> MaskStore::FindExits(const Hash128& key) {
  return exits_.Find(key, kCopy);
}

void MaskStore::PutExits(const Hash128& key, std::shared_ptr<const Exits> exits) {
  exits_.Put(key, std::move(exits));
}

std::shared_ptr<const RunIndex> MaskStore::RunsOf(const std::bitset<256>& set) {
  if (auto common = index_->CommonRuns(set); common != nullptr) return common;
  if (auto known = runs_.Find({set}, kCopy); known != nullptr) return known;
  auto runs = std::make_shared<const RunIndex>(index_->vocabulary(), set);
  runs_.Put({set}, runs);
  return runs;
}

MaskRef MaskStore::WholeRuns(const std::bitset<256>& set, const RunIndex& runs,
                             std::uint32_t most) {
  const auto longest = static_cast<std::uint32_t>(runs.longest_whole());
  const RunKey key = {set, static_cast<int>(std::min(most, longest))};
  if (MaskRef known = whole_runs_.Find(key, kCopy); known != nullptr) return known;
  TokenMask tokens(index_->vocabulary().size());
  for (const RunToken& token : runs.whole())
    if (token.run <= key.most) tokens.Allow(token.id);
  MaskRef mask = Add(std::move(tokens));
  whole_runs_.Put(key, mask);
  return mask;
}

void MaskStore::Shrink(std::int64_t to_bytes) {
  for (int generation = 0; generation < 2 && stats().held_bytes > to_bytes; ++generation) Age();
}

void MaskStore::Age() {
  {
    auto no_masks = std::make_shared<const Masks>();  // ends behind the lock
    const MutexLock lock(&dense_mutex_);
    dense_.swap(no_masks);
  }
  by_content_.Age();
  by_parts_.Age();
  by_key_.Age();
  signatures_.Age();
  within_.Age();
  tries_.Age();
  exits_.Age();
  runs_.Age();
  whole_runs_.Age();
}

MaskStore::Stats MaskStore::stats() const {
  Stats stats;
  stats.masks = by_content_.size();
  stats.keys = by_key_.size();
  stats.mask_bytes = by_content_.value_bytes() + within_.value_bytes() + whole_runs_.value_bytes();
  stats.held_bytes = by_content_.held_bytes() + by_parts_.held_bytes() + by_key_.held_bytes() +
                     signatures_.held_bytes() + within_.held_bytes() + tries_.held_bytes() +
                     exits_.held_bytes() + runs_.held_bytes() + whole_runs_.held_bytes();
  stats.hits = hits_.load(std::memory_order_relaxed);
  stats.misses = misses_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace maskd
