// What containers have taken from the heap, for those that say how much they hold.
//
// Exact, without what the allocator adds by rounding up.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_BASE_HELD_BYTES_H_
#define MASKD_GRAMMAR_CORE_BASE_HELD_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace maskd {

// What is held of one kind, by a name for who reads it.
struct HeldPart {
  const char* name;
  std::int64_t bytes;
};

// A short text lies within the string itself.
template <typename Char>
std::int64_t HeldBytes(const std::basic_string<Char>& text) {
  static const std::size_t within = std::basic_string<Char>().capacity();
  const std::size_t capacity = text.capacity();
  return capacity <= within ? 0 : static_cast<std::int64_t>((capacity + 1) * sizeof(Char));
}

// The elements alone, and not what they hold.
template <typename T>
std::int64_t HeldBytes(const std::vector<T>& elements) {
  return static_cast<std::int64_t>(elements.capacity() * sizeof(T));
}

// With what `held` says that each element holds.
template <typename T, typename Held>
std::int64_t HeldBytes(const std::vector<T>& elements, Held held) {
  std::int64_t bytes = HeldBytes(elements);
  for (const T& element : elements) bytes += held(element);
  return bytes;
}

// The slots of one of Abseil's flat tables, and a byte for each, but not what the slots hold.
template <typename Table>
std::int64_t TableBytes(const Table& table) {
  return static_cast<std::int64_t>(table.capacity() *
                                   (sizeof(typename Table::value_type) + sizeof(char)));
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_HELD_BYTES_H_
