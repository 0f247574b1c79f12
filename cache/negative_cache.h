// Errors of compiles that would fail again, kept for a while, so that a bad grammar that is sent
// again and again costs one compile.
//
// Bounds   `max_entries`, the oldest first out; each entry lives for `time_to_live`.
// Threads  it starts none and has no lock: the owner locks.
#ifndef MASKD_CACHE_NEGATIVE_CACHE_H_
#define MASKD_CACHE_NEGATIVE_CACHE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace maskd::cache {

// Read before a compile is begun; written when one has failed for good.
class NegativeCache {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // From `max_entries` on each new error costs the oldest one.
  NegativeCache(std::size_t max_entries, std::chrono::steady_clock::duration time_to_live)
      : max_entries_(max_entries), time_to_live_(time_to_live) {}

  // Keeps `error` for `id`; does nothing when one is kept already.
  void Put(const std::string& id, const absl::Status& error, TimePoint now);

  // The error kept for `id`, if it still lives.
  std::optional<absl::Status> Find(const std::string& id, TimePoint now);

  // With those whose time is over and that nobody has asked for since.
  [[nodiscard]] std::size_t size() const { return errors_.size(); }

 private:
  void DropOld(TimePoint now);

  const std::size_t max_entries_;
  const std::chrono::steady_clock::duration time_to_live_;
  std::deque<std::pair<TimePoint, std::string>> by_age_;  // end of life, ascending
  absl::flat_hash_map<std::string, absl::Status> errors_;
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_NEGATIVE_CACHE_H_
