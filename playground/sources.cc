#include "playground/sources.h"

#include <algorithm>

namespace maskd::playground {

void Sources::Keep(const std::string& grammar_id, absl::string_view kind, const std::string& text) {
  auto source = std::make_shared<const Source>(kind, text);
  const absl::MutexLock lock(&mutex_);
  kept_.remove_if([&](const auto& each) { return each.first == grammar_id; });
  kept_.emplace_front(grammar_id, std::move(source));
  std::size_t bytes = 0;
  for (const auto& each : kept_) bytes += each.second->text().size();
  while (kept_.size() > kMost || (kept_.size() > 1 && bytes > kMostBytes)) {
    bytes -= kept_.back().second->text().size();
    kept_.pop_back();
  }
}

std::shared_ptr<const Source> Sources::Find(const std::string& grammar_id) {
  const absl::MutexLock lock(&mutex_);
  const auto found =
      std::ranges::find_if(kept_, [&](const auto& each) { return each.first == grammar_id; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().second;
}

}  // namespace maskd::playground
