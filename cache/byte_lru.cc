#include "cache/byte_lru.h"

#include <utility>

namespace maskd::cache {

GrammarPtr ByteLru::Use(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->grammar;
}

std::vector<GrammarPtr> ByteLru::Put(const std::string& id, GrammarPtr grammar,
                                     std::int64_t bytes) {
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    held_bytes_ -= found->second->bytes;
    entries_.erase(found->second);
    by_id_.erase(found);
  }
  entries_.push_front(Entry{id, std::move(grammar), bytes});
  by_id_.emplace(id, entries_.begin());
  held_bytes_ += bytes;
  return Evict();
}

std::vector<GrammarPtr> ByteLru::Resize(const std::string& id, std::int64_t bytes) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return {};
  }
  held_bytes_ += bytes - found->second->bytes;
  found->second->bytes = bytes;
  return Evict();
}

std::vector<GrammarPtr> ByteLru::EvictTo(std::int64_t bytes) {
  std::vector<GrammarPtr> dropped;
  while (held_bytes_ > bytes && entries_.size() > 1) {
    Entry& last = entries_.back();
    held_bytes_ -= last.bytes;
    dropped.push_back(std::move(last.grammar));
    by_id_.erase(last.id);
    entries_.pop_back();
  }
  return dropped;
}

}  // namespace maskd::cache
