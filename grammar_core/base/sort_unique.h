// A vector as a sorted set.
#ifndef MASKD_GRAMMAR_CORE_BASE_SORT_UNIQUE_H_
#define MASKD_GRAMMAR_CORE_BASE_SORT_UNIQUE_H_

#include <algorithm>
#include <vector>

namespace maskd {

// Sorts and leaves one of each. What is sorted already, as most lists are, is not moved.
template <typename T>
void SortUnique(std::vector<T>* values) {
  if (!std::is_sorted(values->begin(), values->end())) std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_SORT_UNIQUE_H_
