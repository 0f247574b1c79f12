#include "cache/byte_lru.h"

#include <iterator>
#include <utility>

namespace maskd::cache {

GrammarPtr ByteLru::Use(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->grammar;
}

std::vector<GrammarPtr> ByteLru::Put(const std::string& id, GrammarPtr grammar, std::int64_t bytes,
                                     std::shared_ptr<Share> share) {
  if (const auto found = by_id_.find(id); found != by_id_.end()) Remove(found->second);
  entries_.push_front(Entry{id, std::move(grammar), bytes, std::move(share)});
  by_id_.emplace(id, entries_.begin());
  Count(entries_.front(), bytes);
  return EvictFor(entries_.begin());
}

std::vector<GrammarPtr> ByteLru::Resize(const std::string& id, std::int64_t bytes) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return {};
  Entry& entry = *found->second;
  Count(entry, bytes - entry.bytes);
  entry.bytes = bytes;
  return EvictFor(found->second);
}

void ByteLru::Count(const Entry& entry, std::int64_t bytes) {
  held_bytes_ += bytes;
  if (entry.share != nullptr) entry.share->held_bytes += bytes;
}

GrammarPtr ByteLru::Remove(Place place) {
  Count(*place, -place->bytes);
  GrammarPtr grammar = std::move(place->grammar);
  by_id_.erase(place->id);
  entries_.erase(place);
  return grammar;
}

std::vector<GrammarPtr> ByteLru::EvictFor(Place kept) {
  std::vector<GrammarPtr> dropped;
  const std::shared_ptr<Share> share = kept->share;
  const std::int64_t most = share == nullptr ? 0 : share->capacity_bytes.load();
  for (Place at = entries_.end(); most > 0 && share->held_bytes > most && at != entries_.begin();) {
    const Place place = std::prev(at);
    if (place == kept || place->share != share)
      at = place;
    else
      dropped.push_back(Remove(place));
  }
  for (GrammarPtr& grammar : EvictTo(capacity_bytes_)) dropped.push_back(std::move(grammar));
  return dropped;
}

std::vector<GrammarPtr> ByteLru::EvictTo(std::int64_t bytes) {
  std::vector<GrammarPtr> dropped;
  while (held_bytes_ > bytes && entries_.size() > 1)
    dropped.push_back(Remove(std::prev(entries_.end())));
  return dropped;
}

}  // namespace maskd::cache
