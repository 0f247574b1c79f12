// A TwoGenerations that threads share: in shards, each of which has a lock.
//
//   LockedTable<Hash128, MaskRef, NoBytes, 16> table({.entries = 1024});
//   MaskRef mask = table.Find(key, [](const MaskRef* found) { return found ? *found : nullptr; });
//
// Shards   of a key by its hash. One is right where look-ups are rare or a bound must be tight,
//          more where all threads look up all the time. Two threads that made masks of 256 rows
//          waited for one lock 27 times a step.
// Bounds   of all shards together; each has its part of them.
// Threads  internally synchronised. What is dropped ends outside of the locks.
#ifndef MASKD_GRAMMAR_CORE_MASK_LOCKED_TABLE_H_
#define MASKD_GRAMMAR_CORE_MASK_LOCKED_TABLE_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/hash/hash.h"

#include "grammar_core/base/mutex.h"
#include "grammar_core/mask/two_generations.h"

namespace maskd {

// Of values that are cheap to copy.
template <typename Key, typename Value, typename BytesOf = NoBytes, std::size_t kShards = 1>
class LockedTable {
  using Table = TwoGenerations<Key, Value, BytesOf>;

 public:
  // Empty.
  explicit LockedTable(typename Table::Bounds bounds) {
    if (bounds.entries != SIZE_MAX) bounds.entries /= kShards;
    if (bounds.bytes != INT64_MAX) bounds.bytes /= std::int64_t{kShards};
    for (std::size_t i = 0; i < kShards; ++i) shards_.emplace_back(bounds);
  }

  // What `read` makes of the key's value, which is null where there is none. It runs under a lock.
  template <typename Read>
  auto Find(const Key& key, const Read& read) {
    Shard& shard = ShardOf(key);
    const MutexLock lock(&shard.mutex);
    return read(static_cast<const Value*>(shard.table.Find(key)));
  }

  // In place of the value that the key has.
  void Put(const Key& key, Value value) {
    typename Table::Dropped dropped;
    Shard& shard = ShardOf(key);
    const MutexLock lock(&shard.mutex);
    shard.table.Put(key, std::move(value), &dropped);
  }

  // Drops the older generation of each shard.
  void Age() {
    for (Shard& shard : shards_) {
      typename Table::Dropped dropped;
      const MutexLock lock(&shard.mutex);
      dropped = shard.table.Age();
    }
  }

  // Of all shards, one after the other; see TwoGenerations.
  [[nodiscard]] std::int64_t size() const {
    return Sum([](const Table& table) { return static_cast<std::int64_t>(table.size()); });
  }
  [[nodiscard]] std::int64_t value_bytes() const {
    return Sum([](const Table& table) { return table.value_bytes(); });
  }
  [[nodiscard]] std::int64_t held_bytes() const {
    return Sum([](const Table& table) { return table.held_bytes(); });
  }

 private:
  struct alignas(64) Shard {
    explicit Shard(typename Table::Bounds bounds) : table(bounds) {}
    mutable Mutex mutex;
    Table table ABSL_GUARDED_BY(mutex);
  };

  // By the high bits: the table takes the low ones.
  Shard& ShardOf(const Key& key) {
    if constexpr (kShards == 1) return shards_.front();
    return shards_[(absl::Hash<Key>()(key) >> 32) % kShards];
  }

  template <typename Of>
  std::int64_t Sum(const Of& of) const {
    std::int64_t sum = 0;
    for (const Shard& shard : shards_) {
      const MutexLock lock(&shard.mutex);
      sum += of(shard.table);
    }
    return sum;
  }

  std::deque<Shard> shards_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_LOCKED_TABLE_H_
