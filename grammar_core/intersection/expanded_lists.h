// The lists of conditions that one search has looked behind. A text that meets a list meets each
// part of it, so behind a list there is nothing new where a part of it was looked behind before.
//
// Memory   an entry for each list; the lists themselves are held elsewhere.
// Threads  one search's own.
#ifndef MASKD_GRAMMAR_CORE_INTERSECTION_EXPANDED_LISTS_H_
#define MASKD_GRAMMAR_CORE_INTERSECTION_EXPANDED_LISTS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/intersection/conditions.h"

namespace maskd {

// Lists, each with the characters that the search had before it.
class ExpandedLists {
 public:
  // Whether some, but not all, conditions of `list` are a list here with no more characters before
  // it.
  bool HavePartOf(const ConditionList& list, std::uint32_t chars, Work& work) const;
  // `list` has a condition and must outlive this.
  void Add(const ConditionList& list, std::uint32_t chars);

 private:
  struct Entry {
    const ConditionList* list;
    std::uint32_t chars;
  };
  // Each list under one of its conditions: that which had the fewest.
  absl::flat_hash_map<ConditionId, std::vector<Entry>> entries_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_INTERSECTION_EXPANDED_LISTS_H_
