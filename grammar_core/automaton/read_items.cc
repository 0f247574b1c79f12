#include "grammar_core/automaton/read_items.h"

#include <algorithm>

namespace maskd {

ReadItems::Id ReadItems::Intern(const Item& item) {
  const auto [at, is_new] =
      item_ids_.try_emplace(std::pair(item.progress, item.text), static_cast<Id>(items_.size()));
  if (is_new) items_.push_back(item);
  return at->second;
}

ReadItems::Id ReadItems::Append(Id item, std::uint32_t character) {
  const Item before = items_[item];
  if (before.text == kForgotten) return item;
  const auto [at, is_new] = node_ids_.try_emplace(std::pair(before.text, character),
                                                  static_cast<std::uint32_t>(nodes_.size()) + 1);
  if (is_new) nodes_.push_back({before.text, character});
  return Intern({before.progress, at->second});
}

std::optional<std::u32string> ReadItems::Text(Id item) const {
  if (items_[item].text == kForgotten) return std::nullopt;
  std::u32string text;
  for (std::uint32_t at = items_[item].text; at != kNoText; at = nodes_[at - 1].before) {
    text.push_back(static_cast<char32_t>(nodes_[at - 1].character));
  }
  std::reverse(text.begin(), text.end());
  return text;
}

std::int64_t ReadItems::held_bytes() const {
  constexpr std::int64_t kBytesPerItem = 2 * (sizeof(Item) + sizeof(Id));
  constexpr std::int64_t kBytesPerNode = 2 * (sizeof(Node) + sizeof(std::uint32_t));
  return static_cast<std::int64_t>(items_.size()) * kBytesPerItem +
         static_cast<std::int64_t>(nodes_.size()) * kBytesPerNode;
}

}  // namespace maskd
