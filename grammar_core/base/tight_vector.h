// Vectors that take little beyond what is in them, where it counts what they hold.
//
// Cost     an element is moved some eight times while a vector grows, where doubling moves it once.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_BASE_TIGHT_VECTOR_H_
#define MASKD_GRAMMAR_CORE_BASE_TIGHT_VECTOR_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace maskd {

// As push_back(): room is made for an eighth more at a time, and for a cache line's at least.
template <typename T>
T& AppendTight(std::vector<T>* elements, T element) {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kFewest = std::max<std::size_t>(kLineBytes / sizeof(T), 2);
  constexpr std::size_t kPart = 8;
  if (elements->size() == elements->capacity())
    elements->reserve(elements->size() + elements->size() / kPart + kFewest);
  return elements->emplace_back(std::move(element));
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_TIGHT_VECTOR_H_
