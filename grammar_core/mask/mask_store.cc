#include "grammar_core/mask/mask_store.h"

#include <algorithm>
#include <utility>

#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

std::int64_t MaskBytes(const TokenIndex& index) {
  return MaskWordCount(index.vocabulary().size()) * std::int64_t{sizeof(std::int32_t)};
}

}  // namespace

MaskStore::MaskStore(const TokenIndex* index, std::int64_t max_bytes)
    : index_(index),
      max_masks_(
          static_cast<std::size_t>(std::max<std::int64_t>(2, max_bytes / MaskBytes(*index)))) {}

MaskRef MaskStore::Intern(TokenMask mask) {
  const std::uint64_t hash = HashWords(mask.words());
  const MutexLock lock(&mutex_);
  if (const MaskRef* known = by_content_.Find(hash, max_masks_);
      known != nullptr && **known == mask) {
    return *known;
  }
  return *by_content_.Put(hash, std::make_shared<const TokenMask>(std::move(mask)), max_masks_);
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
  auto mask = std::make_shared<const TokenMask>(index_->TokensWithin(characters));
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
  by_key_.Clear();
  within_.Clear();
  tries_.Clear();
  exits_.Clear();
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
