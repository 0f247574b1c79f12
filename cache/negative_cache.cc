#include "cache/negative_cache.h"

namespace maskd::cache {

void NegativeCache::Put(const std::string& id, const absl::Status& error, TimePoint now) {
  DropOld(now);
  if (max_entries_ == 0 || !errors_.emplace(id, error).second) return;
  by_age_.emplace_back(now + time_to_live_, id);
  if (by_age_.size() > max_entries_) {
    errors_.erase(by_age_.front().second);
    by_age_.pop_front();
  }
}

std::optional<absl::Status> NegativeCache::Find(const std::string& id, TimePoint now) {
  DropOld(now);
  const auto found = errors_.find(id);
  return found == errors_.end() ? std::nullopt : std::optional(found->second);
}

void NegativeCache::DropOld(TimePoint now) {
  while (!by_age_.empty() && by_age_.front().first <= now) {
    errors_.erase(by_age_.front().second);
    by_age_.pop_front();
  }
}

}  // namespace maskd::cache
