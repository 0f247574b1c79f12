#include "cache/work_turns.h"

#include <algorithm>

namespace maskd::cache {

void WorkTurns::Add(std::uint64_t id, const std::string& owner, std::int64_t cost, Job job) {
  Owner& of = owners_[owner];
  of.tag = std::max(now_, of.tag) + cost;
  ++of.waiting;
  tags_.emplace(id, of.tag);
  waiting_.emplace(Place(of.tag, id), Waiting{owner, std::move(job)});
}

WorkTurns::Job WorkTurns::Take() {
  if (waiting_.empty()) return nullptr;
  now_ = waiting_.begin()->first.first;
  return TakeAt(waiting_.begin());
}

WorkTurns::Job WorkTurns::Remove(std::uint64_t id) {
  const auto tag = tags_.find(id);
  return tag == tags_.end() ? nullptr : TakeAt(waiting_.find({tag->second, id}));
}

WorkTurns::Job WorkTurns::TakeAt(std::map<Place, Waiting>::iterator at) {
  Job job = std::move(at->second.job);
  const auto owner = owners_.find(at->second.owner);
  if (--owner->second.waiting == 0) owners_.erase(owner);
  tags_.erase(at->first.second);
  waiting_.erase(at);
  return job;
}

}  // namespace maskd::cache
