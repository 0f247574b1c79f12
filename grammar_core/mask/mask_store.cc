// One lock around a table for each way by which a mask is found. A mask is made and compared
// outside of it; what a table drops is moved out and ends behind the lock.
//
// Invariant  a mask that is handed out is the only stored one of its content, as far as the store
//            remembers.
// Cost       a look-up is a hash and a comparison; the dense masks that a new one is compared with
//            are a short list, shared as a whole and read without the lock.
#include "grammar_core/mask/mask_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "grammar_core/base/sort_unique.h"
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
      texts_after_({}),
      runs_({.entries = kMaxRuns, .bytes = max_bytes / kPartOfOthers}) {}

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
  MaskRef known;
  {
    const MutexLock lock(&mutex_);
    if (const MaskRef* found = by_content_.Find(hash)) known = *found;
  }
  if (known != nullptr && *known == mask) return known;
  MaskRef stored = StoreMask(std::move(mask), like, *DenseMasks());
  if (!stored->compact()) AddDense(stored);
  ByContent::Dropped dropped;
  const MutexLock lock(&mutex_);
  return *by_content_.Put(hash, std::move(stored), &dropped);
}

std::shared_ptr<const MaskStore::Masks> MaskStore::DenseMasks() {
  const MutexLock lock(&mutex_);
  return dense_;
}

void MaskStore::AddDense(const MaskRef& mask) {
  const MutexLock lock(&mutex_);
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
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = by_parts_.Find(key)) {
      if (MaskRef mask = known->lock(); mask != nullptr) return mask;
    }
  }
  MaskRef mask = Intern(parts.ToMask(index_->vocabulary().size()), parts.masks);
  ByParts::Dropped dropped;
  const MutexLock lock(&mutex_);
  by_parts_.Put(key, mask, &dropped);
  return mask;
}

MaskStore::Known MaskStore::Find(const Hash128& chain) {
  const MutexLock lock(&mutex_);
  const KeyEntry* entry = by_key_.Find(chain);
  return entry == nullptr ? Known{} : Known{entry->mask.lock(), entry->deeper};
}

void MaskStore::Settle(const Hash128& chain, const MaskRef& mask) {
  ByKey::Dropped dropped;
  const MutexLock lock(&mutex_);
  by_key_.Put(chain, {mask, mask == nullptr}, &dropped);
}

MaskStore::KnownSignature MaskStore::FindSignature(const Hash128& chain) {
  const MutexLock lock(&mutex_);
  const std::optional<Hash128>* entry = signatures_.Find(chain);
  if (entry == nullptr) return {};
  return {*entry, !entry->has_value()};
}

void MaskStore::SettleSignature(const Hash128& chain, const std::optional<Hash128>& signature) {
  Signatures::Dropped dropped;
  const MutexLock lock(&mutex_);
  signatures_.Put(chain, signature, &dropped);
}

MaskRef MaskStore::TokensWithin(const CharacterClass& characters) {
  {
    const MutexLock lock(&mutex_);
    if (const MaskRef* known = within_.Find(characters); known != nullptr) return *known;
  }
  MaskRef mask = StoreMask(index_->TokensWithin(characters), {}, *DenseMasks());
  if (!mask->compact()) AddDense(mask);
  ByClass::Dropped dropped;
  const MutexLock lock(&mutex_);
  return *within_.Put(characters, std::move(mask), &dropped);
}

std::shared_ptr<const TokenTrie> MaskStore::TrieOf(const CandidateClass& candidates) {
  const std::shared_ptr<const TokenTrie> whole(std::shared_ptr<void>(), &index_->trie());
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = tries_.Find(candidates); known != nullptr)
      return *known == nullptr ? whole : *known;
  }
  auto trie = index_->TrieOf(candidates);
  Tries::Dropped dropped;
  const MutexLock lock(&mutex_);
  tries_.Put(candidates, trie.get() == whole.get() ? nullptr : trie, &dropped);
  return trie;
}

std::shared_ptr<const Exits> MaskStore::FindExits(const Hash128& key) {
  const MutexLock lock(&mutex_);
  const auto* known = exits_.Find(key);
  return known == nullptr ? nullptr : *known;
}

void MaskStore::PutExits(const Hash128& key, std::shared_ptr<const Exits> exits) {
  ExitsByKey::Dropped dropped;
  const MutexLock lock(&mutex_);
  exits_.Put(key, std::move(exits), &dropped);
}

std::shared_ptr<const TokenTrie> MaskStore::TextsAfter(unsigned char byte) {
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = texts_after_.Find(byte); known != nullptr) return *known;
  }
  std::vector<absl::string_view> texts;
  for (const TokenId id : index_->TokensHolding(byte)) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
      if (static_cast<unsigned char>(bytes[i]) == byte) texts.push_back(bytes.substr(i + 1));
  }
  SortUnique(&texts);
  std::vector<TokenTrie::Entry> entries;
  for (const absl::string_view text : texts)
    entries.push_back({text, static_cast<TokenId>(entries.size())});
  auto trie = std::make_shared<const TokenTrie>(entries);
  TriesByByte::Dropped dropped;
  const MutexLock lock(&mutex_);
  return *texts_after_.Put(byte, std::move(trie), &dropped);
}

std::shared_ptr<const RunIndex> MaskStore::RunsOf(const std::bitset<256>& set) {
  if (auto common = index_->CommonRuns(set); common != nullptr) return common;
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = runs_.Find({set}); known != nullptr) return *known;
  }
  auto runs = std::make_shared<const RunIndex>(index_->vocabulary(), set);
  Runs::Dropped dropped;
  const MutexLock lock(&mutex_);
  return *runs_.Put({set}, std::move(runs), &dropped);
}

void MaskStore::Shrink(std::int64_t to_bytes) {
  for (int generation = 0; generation < 2 && stats().held_bytes > to_bytes; ++generation) Age();
}

void MaskStore::Age() {
  std::tuple<ByContent::Dropped, ByParts::Dropped, ByKey::Dropped, Signatures::Dropped,
             ByClass::Dropped, Tries::Dropped, ExitsByKey::Dropped, TriesByByte::Dropped,
             Runs::Dropped>
      dropped;  // ends behind the lock
  auto no_masks = std::make_shared<const Masks>();
  const MutexLock lock(&mutex_);
  dense_.swap(no_masks);
  dropped = {by_content_.Age(), by_parts_.Age(),    by_key_.Age(),
             signatures_.Age(), within_.Age(),      tries_.Age(),
             exits_.Age(),      texts_after_.Age(), runs_.Age()};
}

MaskStore::Stats MaskStore::stats() const {
  const MutexLock lock(&mutex_);
  Stats stats;
  stats.masks = static_cast<std::int64_t>(by_content_.size());
  stats.keys = static_cast<std::int64_t>(by_key_.size());
  stats.mask_bytes = by_content_.value_bytes() + within_.value_bytes();
  stats.held_bytes = by_content_.held_bytes() + by_parts_.held_bytes() + by_key_.held_bytes() +
                     signatures_.held_bytes() + within_.held_bytes() + tries_.held_bytes() +
                     exits_.held_bytes() + texts_after_.held_bytes() + runs_.held_bytes();
  stats.hits = hits_.load(std::memory_order_relaxed);
  stats.misses = misses_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace maskd
