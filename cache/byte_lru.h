// Grammars by id, least recently used first out, within a budget of bytes.
//
// Units    bytes are what the caller says a grammar holds; a grammar grows, so it says so again.
// Evicting the most recently used grammar stays, however large it is: what was just compiled can be
//          opened by its id. Where a grammar's share is more than full, grammars of that share go
//          first; the one just put in stays.
// Threads  it starts none and has no lock: the owner locks. Dropped grammars are handed out, so
//          that the owner can free them outside of its lock.
#ifndef MASKD_CACHE_BYTE_LRU_H_
#define MASKD_CACHE_BYTE_LRU_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "cache/share.h"
#include "cache/single_flight.h"

namespace maskd::cache {

// The order of use, and what each grammar was last said to hold.
class ByteLru {
 public:
  // A capacity of 0 keeps the one most recently used.
  explicit ByteLru(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // The grammar, now the most recently used. Null when there is none.
  GrammarPtr Use(const std::string& id);

  // Adds or replaces, as the most recently used. Returns what was dropped for it.
  // It counts for `share`, if there is one.
  std::vector<GrammarPtr> Put(const std::string& id, GrammarPtr grammar, std::int64_t bytes,
                              std::shared_ptr<Share> share = nullptr);

  // What `id` holds by now. Nothing happens when it is not there. Returns what was dropped.
  std::vector<GrammarPtr> Resize(const std::string& id, std::int64_t bytes);

  // Drops grammars until these hold `bytes` less, or one is left. Returns what was dropped.
  std::vector<GrammarPtr> Shrink(std::int64_t bytes) { return EvictTo(held_bytes_ - bytes); }

  // None of these three counts as a use.
  [[nodiscard]] bool Has(const std::string& id) const { return by_id_.contains(id); }
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::size_t size() const { return by_id_.size(); }

 private:
  struct Entry {
    std::string id;
    GrammarPtr grammar;
    std::int64_t bytes;
    std::shared_ptr<Share> share;
  };
  using Place = std::list<Entry>::iterator;

  void Count(const Entry& entry, std::int64_t bytes);
  GrammarPtr Remove(Place place);
  // Until `kept`, the last that stays in any case, has room in its share and in the cache.
  std::vector<GrammarPtr> EvictFor(Place kept);
  std::vector<GrammarPtr> EvictTo(std::int64_t bytes);

  const std::int64_t capacity_bytes_;
  std::int64_t held_bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  absl::flat_hash_map<std::string, Place> by_id_;
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_BYTE_LRU_H_
