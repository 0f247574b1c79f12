// A stream is first one that has said no hello, then one with a place, or one that was told to end.
// before_hello_ counts the first kind and placed_ the second; those that are ending count in
// neither, as they are soon gone.
//
// Who wakes whom  notices are given under the lock and only wake the stream's queue thread
//                 (DecodeStream::Notify()); Drain() sleeps on removed_ until all have gone.
// May block       WaitUntilEmpty() alone.
// Invariant       placed_ is the sum of placed_of_peer_; a stream that is apart is in neither.
// Cost            GetLoad() and the search for room look at each stream; the rest are look-ups.
#include "service/streams/stream_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"
#include "grammar_core/base/error.h"

namespace maskd::service {
namespace {

// Streams live long: another try soon would find no place either.
constexpr std::int64_t kRetryAfterMs = 1000;

absl::Status Draining() {
  return ErrorAt(absl::StatusCode::kUnavailable, "", "DRAINING", "the server is stopping");
}

absl::Status TooMany(absl::string_view limit, int most) {
  return cache::OverloadedError("TOO_MANY_STREAMS",
                                absl::StrCat("limit ", limit, " is ", most, ", one more needed"),
                                kRetryAfterMs);
}

}  // namespace

StreamRegistry::Registration::Registration(Registration&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}

StreamRegistry::Registration::~Registration() {
  if (registry_ != nullptr) registry_->Remove(id_);
}

absl::Status StreamRegistry::Registration::TakePlace() { return registry_->TakePlace(id_); }

absl::StatusOr<StreamRegistry::Registration> StreamRegistry::Add(
    const std::string& peer, Tell tell, std::shared_ptr<const StreamFigures> figures,
    bool is_apart) {
  const MutexLock lock(&mutex_);
  if (draining_) return Draining();
  // The oldest of those that say nothing gives way: a flood of connections without a hello cannot
  // keep out one that will say it.
  if (before_hello_ >= kMaxBeforeHello) MakeRoomBeforeHello();
  const std::uint64_t id = next_id_++;
  streams_.emplace(id, Stream{peer, std::move(tell), is_apart, std::move(figures)});
  ++before_hello_;
  return Registration(this, id);
}

absl::Status StreamRegistry::TakePlace(std::uint64_t id) {
  const MutexLock lock(&mutex_);
  Stream& stream = streams_.at(id);
  // At the hello and not at the call: a stream costs little before it, and may never say it.
  if (!stream.is_apart) {
    if (placed_ >= limits_.in_all) return TooMany("max_streams", limits_.in_all);
    int& of_peer = placed_of_peer_[stream.peer];
    if (of_peer >= limits_.of_a_peer) return TooMany("max_peer_streams", limits_.of_a_peer);
    ++of_peer;
    ++placed_;
  }
  if (!stream.is_ending) --before_hello_;
  stream.has_place = true;
  return absl::OkStatus();
}

// Those that are told to end are few, and soon gone.
void StreamRegistry::MakeRoomBeforeHello() {
  for (auto& [id, stream] : streams_)
    if (!stream.has_place && !stream.is_ending) return CallEnd(&stream);
}

void StreamRegistry::CallEnd(Stream* stream) {
  stream->is_ending = true;
  --before_hello_;
  stream->tell(Notice::kCallEnd);
}

std::vector<StreamRegistry::Entry> StreamRegistry::List(std::uint64_t first,
                                                        std::size_t most) const {
  std::vector<Entry> entries;
  entries.reserve(most);
  const MutexLock lock(&mutex_);
  for (auto at = streams_.lower_bound(first); at != streams_.end() && entries.size() < most; ++at)
    entries.push_back({at->first, at->second.peer, at->second.has_place, at->second.figures});
  return entries;
}

int StreamRegistry::CountPlaced() const {
  const MutexLock lock(&mutex_);
  return placed_;
}

absl::StatusOr<StreamRegistry::Load> StreamRegistry::GetLoad(
    std::optional<std::uint64_t> number) const {
  const MutexLock lock(&mutex_);
  if (draining_) return Draining();
  Load load = {.placed = placed_, .rank = std::nullopt};
  const auto own = number.has_value() ? streams_.find(*number) : streams_.end();
  if (own == streams_.end() || !own->second.has_place || own->second.is_apart) return load;
  load.rank =
      static_cast<int>(std::count_if(streams_.begin(), std::next(own), [](const auto& numbered) {
        return numbered.second.has_place && !numbered.second.is_apart;
      }));
  return load;
}

absl::Status StreamRegistry::Late() const {
  const MutexLock lock(&mutex_);
  return draining_ ? Draining()
                   : cache::OverloadedError("TOO_MANY_STREAMS",
                                            "too many streams have come and said no hello",
                                            kRetryAfterMs);
}

std::vector<Pool> StreamRegistry::pools() const {
  const MutexLock lock(&mutex_);
  int most = 0;
  for (const auto& [peer, placed] : placed_of_peer_) most = std::max(most, placed);
  return {{"streams", placed_, limits_.in_all},
          {"peer_streams", most, limits_.of_a_peer},
          {"streams_before_hello", static_cast<std::int64_t>(before_hello_), kMaxBeforeHello}};
}

void StreamRegistry::Drain() {
  const MutexLock lock(&mutex_);
  if (std::exchange(draining_, true)) return;
  for (auto& [id, stream] : streams_)
    if (stream.has_place)
      stream.tell(Notice::kGoAway);
    else if (!stream.is_ending)
      CallEnd(&stream);
}

void StreamRegistry::WaitUntilEmpty(Clock::TimePoint deadline) {
  const MutexLock lock(&mutex_);
  while (!streams_.empty() && clock_->Now() < deadline)
    clock_->WaitUntil(&removed_, &mutex_, deadline);
}

void StreamRegistry::Remove(std::uint64_t id) {
  const MutexLock lock(&mutex_);
  const auto found = streams_.find(id);
  const Stream& stream = found->second;
  if (stream.has_place && !stream.is_apart) {
    --placed_;
    const auto peer = placed_of_peer_.find(stream.peer);
    if (--peer->second == 0) placed_of_peer_.erase(peer);
  } else if (!stream.has_place && !stream.is_ending) {
    --before_hello_;
  }
  streams_.erase(found);
  removed_.NotifyAll();
}

}  // namespace maskd::service
