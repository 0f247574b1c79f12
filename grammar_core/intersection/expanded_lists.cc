#include "grammar_core/intersection/expanded_lists.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace maskd {

// A part of a list is kept under one of the part's conditions, which is one of the list's too.
bool ExpandedLists::HavePartOf(const ConditionList& list, std::uint32_t chars, Work& work) const {
  // Lists that are compared in about a unit of work.
  constexpr std::size_t kListsPerUnit = 16;
  std::size_t looks = list.size();
  bool found = false;
  for (std::size_t i = 0; i < list.size() && !found; ++i) {
    const auto entries = entries_.find(list[i]);
    if (entries == entries_.end()) continue;
    looks += entries->second.size();
    found = std::ranges::any_of(entries->second, [&](const Entry& entry) {
      return entry.list->size() < list.size() && entry.chars <= chars &&
             std::ranges::includes(list, *entry.list);
    });
  }
  work.Spend(static_cast<std::int64_t>(looks / kListsPerUnit));
  return found;
}

void ExpandedLists::Add(const ConditionList& list, std::uint32_t chars) {
  assert(!list.empty() && "every text meets that, so the search is over");
  const auto rarest = std::ranges::min_element(
      list, {}, [&](ConditionId condition) { return entries_[condition].size(); });
  entries_[*rarest].push_back({&list, chars});
}

}  // namespace maskd
