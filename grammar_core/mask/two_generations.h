// A map that forgets what was not used lately. Values are put into a younger generation. A value
// found in the older generation goes back to the younger one. When the younger one has half of
// what the map may have, the older one is dropped and the younger one takes its place.
//
// Bytes    what BytesOf()(key, value) says of each entry beside its place in the table; it says
//          the same for as long as the entry is there.
// Dropped  what goes is handed to the caller, who may hold a lock and end it outside of that.
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_MASK_TWO_GENERATIONS_H_
#define MASKD_GRAMMAR_CORE_MASK_TWO_GENERATIONS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace maskd {

// Of entries that hold no memory but their place in the table.
struct NoBytes {
  // The same for all: only the table's own memory counts.
  template <typename Key, typename Value>
  std::int64_t operator()(const Key&, const Value&) const {
    return 0;
  }
};

// Use with a hash map's keys: they are moved when an entry changes its generation.
template <typename Key, typename Value, typename BytesOf = NoBytes>
class TwoGenerations {
  struct Generation {
    absl::flat_hash_map<Key, Value> entries;
    std::int64_t bytes = 0;
  };

 public:
  // What the two generations may hold together. Each bound is met by dropping the older one.
  struct Bounds {
    std::size_t entries = SIZE_MAX;
    std::int64_t bytes = INT64_MAX;
  };
  using Dropped = Generation;

  // Empty, with no memory yet.
  explicit TwoGenerations(Bounds bounds) : bounds_(bounds) {}

  // Null where there is none. The value stays where it is until the next call.
  Value* Find(const Key& key) {
    if (const auto at = young_.entries.find(key); at != young_.entries.end()) return &at->second;
    const auto at = old_.entries.find(key);
    if (at == old_.entries.end()) return nullptr;
    Value value = std::move(at->second);
    old_.bytes -= BytesOf()(key, value);
    old_.entries.erase(at);
    return &Insert(key, std::move(value));
  }

  // What it drops is moved to `dropped`.
  Value* Put(const Key& key, Value value, Dropped* dropped) {
    if (young_.entries.size() >= bounds_.entries / 2 || young_.bytes >= bounds_.bytes / 2)
      *dropped = Age();
    return &Insert(key, std::move(value));
  }

  // Drops the older generation; the younger one takes its place.
  [[nodiscard]] Dropped Age() { return std::exchange(old_, std::exchange(young_, {})); }

  // Of both generations. The bytes are those that BytesOf says.
  [[nodiscard]] std::int64_t value_bytes() const { return young_.bytes + old_.bytes; }
  [[nodiscard]] std::size_t size() const { return young_.entries.size() + old_.entries.size(); }
  // Of entries and tables.
  [[nodiscard]] std::int64_t held_bytes() const { return BytesOfAll(young_) + BytesOfAll(old_); }

 private:
  Value& Insert(const Key& key, Value value) {
    const auto [at, is_new] = young_.entries.try_emplace(key);
    if (!is_new) young_.bytes -= BytesOf()(key, at->second);
    at->second = std::move(value);
    young_.bytes += BytesOf()(key, at->second);
    return at->second;
  }

  static std::int64_t BytesOfAll(const Generation& generation) {
    constexpr std::size_t kPlace = sizeof(std::pair<const Key, Value>) + 1;  // and its control byte
    return generation.bytes + static_cast<std::int64_t>(generation.entries.capacity() * kPlace);
  }

  const Bounds bounds_;
  Generation young_;
  Generation old_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_TWO_GENERATIONS_H_
