#include "cache/known_texts.h"

namespace maskd::cache {

std::optional<std::string> KnownTexts::Find(absl::string_view text) {
  const MutexLock lock(&mutex_);
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->id;
}

void KnownTexts::Put(const std::string& text, const std::string& id) {
  const MutexLock lock(&mutex_);
  if (by_text_.contains(text)) return;
  if (entries_.size() >= max_entries_) {
    by_text_.erase(entries_.back().text);
    entries_.pop_back();
  }
  entries_.push_front(Entry{text, id});
  by_text_.emplace(entries_.front().text, entries_.begin());
}

std::size_t KnownTexts::size() const {
  const MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace maskd::cache
