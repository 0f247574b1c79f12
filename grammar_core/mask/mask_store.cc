#include "grammar_core/mask/mask_store.h"

#include <algorithm>
#include <utility>

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

std::int64_t MaskBytes(const TokenIndex& index) {
  return MaskWordCount(index.vocabulary().size()) * std::int64_t{sizeof(std::int32_t)};
}

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
      max_masks_(
          static_cast<std::size_t>(std::max<std::int64_t>(2, max_bytes / MaskBytes(*index)))) {}

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
    if (const MaskRef* found = by_content_.Find(hash, max_masks_)) known = *found;
  }
  if (known != nullptr && *known == mask) return known;
  MaskRef stored = StoreMask(std::move(mask), like);
  const MutexLock lock(&mutex_);
  return *by_content_.Put(hash, std::move(stored), max_masks_);
}

MaskRef MaskStore::Assemble(MaskParts parts) {
  if (parts.masks.size() == 1 && parts.removed.empty() && parts.ids.empty()) {
    return std::move(parts.masks.front());
  }
  PartsKey key;
  key.reserve(2 + parts.masks.size() + (parts.removed.size() + parts.ids.size() + 2) / 2);
  key.push_back(parts.masks.size() << 32 | parts.removed.size());
  for (const MaskRef& mask : parts.masks) key.push_back(mask->serial());
  AppendIds(parts.removed, &key);
  AppendIds(parts.ids, &key);
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = by_parts_.Find(key, kMaxParts)) {
      if (MaskRef mask = known->lock(); mask != nullptr) return mask;
    }
  }
  MaskRef mask = Intern(parts.ToMask(index_->vocabulary().size()), parts.masks);
  const MutexLock lock(&mutex_);
  by_parts_.Put(std::move(key), mask, kMaxParts);
  return mask;
}

MaskStore::Known MaskStore::Find(const Hash128& chain) {
  const MutexLock lock(&mutex_);
  const KeyEntry* entry = by_key_.Find(chain, kMaxKeys);
  return entry == nullptr ? Known{} : Known{entry->mask.lock(), entry->deeper};
}

void MaskStore::Settle(const Hash128& chain, const MaskRef& mask) {
  const MutexLock lock(&mutex_);
  by_key_.Put(chain, {mask, mask == nullptr}, kMaxKeys);
}

MaskRef MaskStore::TokensWithin(const CharacterClass& characters) {
  {
    const MutexLock lock(&mutex_);
    if (const MaskRef* known = within_.Find(characters, kMaxClasses); known != nullptr) {
      return *known;
    }
  }
  MaskRef mask = StoreMask(index_->TokensWithin(characters));
  const MutexLock lock(&mutex_);
  return *within_.Put(characters, std::move(mask), kMaxClasses);
}

std::shared_ptr<const TokenTrie> MaskStore::TrieOf(const CandidateClass& candidates) {
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = tries_.Find(candidates, kMaxClasses); known != nullptr) return *known;
  }
  auto trie = index_->TrieOf(candidates);
  const MutexLock lock(&mutex_);
  return *tries_.Put(candidates, std::move(trie), kMaxClasses);
}

std::shared_ptr<const Exits> MaskStore::FindExits(const Hash128& key) {
  const MutexLock lock(&mutex_);
  const auto* known = exits_.Find(key, kMaxClasses);
  return known == nullptr ? nullptr : *known;
}

void MaskStore::PutExits(const Hash128& key, std::shared_ptr<const Exits> exits) {
  const MutexLock lock(&mutex_);
  exits_.Put(key, std::move(exits), kMaxClasses);
}

std::shared_ptr<const TokenTrie> MaskStore::TextsAfter(unsigned char byte) {
  {
    const MutexLock lock(&mutex_);
    if (texts_after_[byte] != nullptr) return texts_after_[byte];
  }
  std::vector<absl::string_view> texts;
  for (const TokenId id : index_->TokensHolding(byte)) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      if (static_cast<unsigned char>(bytes[i]) == byte) texts.push_back(bytes.substr(i + 1));
    }
  }
  SortUnique(&texts);
  std::vector<TokenTrie::Entry> entries;
  for (const absl::string_view text : texts) {
    entries.push_back({text, static_cast<TokenId>(entries.size())});
  }
  auto trie = std::make_shared<const TokenTrie>(entries);
  const MutexLock lock(&mutex_);
  texts_after_[byte] = trie;
  return trie;
}

std::shared_ptr<const RunIndex> MaskStore::RunsOf(const std::bitset<256>& set) {
  if (auto common = index_->CommonRuns(set); common != nullptr) return common;
  {
    const MutexLock lock(&mutex_);
    if (const auto* known = runs_.Find({set}, kMaxRuns); known != nullptr) return *known;
  }
  auto runs = std::make_shared<const RunIndex>(index_->vocabulary(), set);
  const MutexLock lock(&mutex_);
  return *runs_.Put({set}, std::move(runs), kMaxRuns);
}

void MaskStore::Clear() {
  const MutexLock lock(&mutex_);
  by_content_.Clear();
  by_parts_.Clear();
  by_key_.Clear();
  within_.Clear();
  tries_.Clear();
  exits_.Clear();
  texts_after_.fill(nullptr);
  runs_.Clear();
}

MaskStore::Stats MaskStore::stats() const {
  const MutexLock lock(&mutex_);
  Stats stats;
  stats.masks = static_cast<std::int64_t>(by_content_.size());
  stats.held_bytes = stats.masks * MaskBytes(*index_);
  stats.keys = static_cast<std::int64_t>(by_key_.size());
  return stats;
}

}  // namespace maskd
