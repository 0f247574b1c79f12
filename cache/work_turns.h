// The order in which waiting jobs of many owners are begun: a turn for each, by what its jobs cost.
//
// Order    self-clocked fair queueing (Golestani 1994). A job's tag is that of its owner's last
//          waiting one, or of the job that was taken last, if that is more, and its cost added.
//          Next is the job of the least tag; of equal ones the one that came first.
// Bound    a job of cost c waits for jobs of cost c of each other owner, and one more of each.
//          Jobs of one owner, and those that cost nothing, keep their order.
// Memory   what waits: who has no job that waits is not known. Its tag would say nothing, since its
//          last job was taken.
// Cost     a look-up in a tree of what waits.
// Threads  one at a time.
#ifndef MASKD_CACHE_WORK_TURNS_H_
#define MASKD_CACHE_WORK_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace maskd::cache {

// Jobs that wait for threads.
class WorkTurns {
 public:
  using Job = std::function<void()>;

  // `id` is more than that of each job before. `cost` is at least 0, in units of the caller's own.
  void Add(std::uint64_t id, const std::string& owner, std::int64_t cost, Job job);
  // The next one; empty when none waits.
  Job Take();
  // That one; empty when it does not wait. Its owner's other jobs keep their places.
  Job Remove(std::uint64_t id);
  // Jobs that wait.
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  using Place = std::pair<std::int64_t, std::uint64_t>;  // the tag and the id
  struct Waiting {
    std::string owner;
    Job job;
  };
  struct Owner {
    std::int64_t tag = 0;  // of its last job
    int waiting = 0;
  };

  Job TakeAt(std::map<Place, Waiting>::iterator at);

  std::int64_t now_ = 0;  // the tag of what was taken last
  std::map<Place, Waiting> waiting_;
  absl::flat_hash_map<std::uint64_t, std::int64_t> tags_;  // by id
  absl::flat_hash_map<std::string, Owner> owners_;         // that have a job that waits
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_WORK_TURNS_H_
