// A flight is a compile with those who wait for it: threads that sleep, and callers that are told.
// Who is told is taken out of the flight under the lock and called without it, on the compile's
// thread, so a caller may leave or ask again from there.
//
// Invariant  a flight is in the table until it has landed or its last caller has left.
#include "cache/single_flight.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

#include "cache/load_error.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd::cache {
namespace {

// A full queue empties at some hundred compiles a second.
constexpr std::int64_t kRetryAfterMs = 200;

}  // namespace

absl::Status OwnCopy(const absl::Status& status) {
  absl::Status copy(status.code(), status.message());
  status.ForEachPayload([&copy](absl::string_view type, const absl::Cord& payload) {
    copy.SetPayload(type, absl::Cord(absl::string_view(std::string(payload))));
  });
  return copy;
}

absl::Status QueueFullError(const WorkPool& pool) {
  return OverloadedError(
      "COMPILE_QUEUE_FULL",
      absl::StrCat("limit compile_queue is ", pool.queue_limit(), ", one more needed"),
      kRetryAfterMs);
}

SingleFlight::Ticket::Ticket(CompileResult result)
    : flight_(std::make_shared<Flight>()), origin_(Origin::kKnown) {
  flight_->result = std::move(result);
}

SingleFlight::Ticket::Ticket(SingleFlight* owner, std::shared_ptr<Flight> flight, std::string key,
                             Origin origin)
    : owner_(owner), flight_(std::move(flight)), key_(std::move(key)), origin_(origin) {}

SingleFlight::Ticket& SingleFlight::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    Leave();
    owner_ = other.owner_;
    flight_ = std::move(other.flight_);
    key_ = std::move(other.key_);
    origin_ = other.origin_;
    listener_ = other.listener_;
  }
  return *this;
}

void SingleFlight::Ticket::Leave() {
  if (owner_ != nullptr && flight_ != nullptr) owner_->Leave(key_, flight_, listener_);
  flight_ = nullptr;
}

bool SingleFlight::Ticket::WaitUntil(Clock::TimePoint deadline) const {
  if (owner_ == nullptr) return true;
  const MutexLock lock(&owner_->mutex_);
  while (!flight_->done && owner_->clock_->Now() < deadline)
    owner_->clock_->WaitUntil(&flight_->landed, &owner_->mutex_, deadline);
  return flight_->done;
}

void SingleFlight::Ticket::WhenReady(std::function<void()> landed) {
  if (owner_ != nullptr) {
    const MutexLock lock(&owner_->mutex_);
    if (!flight_->done) {
      listener_ = ++flight_->last_listener;
      flight_->listeners.emplace(listener_, std::move(landed));
      return;
    }
  }
  landed();
}

CompileResult SingleFlight::Ticket::result() const {
  if (owner_ == nullptr) return flight_->result;
  const MutexLock lock(&owner_->mutex_);
  return flight_->result.ok() ? flight_->result : CompileResult(OwnCopy(flight_->result.status()));
}

std::optional<Ticket> SingleFlight::JoinRunning(const std::string& key) {
  const MutexLock lock(&mutex_);
  return JoinLocked(key);
}

std::optional<Ticket> SingleFlight::JoinLocked(const std::string& key) {
  const auto found = flights_.find(key);
  if (found == flights_.end()) return std::nullopt;
  ++found->second->waiters;
  return Ticket(this, found->second, key, Ticket::Origin::kJoined);
}

absl::StatusOr<Ticket> SingleFlight::Join(const std::string& key,
                                          const std::function<GrammarPtr()>& known,
                                          CompileWork work, WorkPool* pool,
                                          const WorkPool::Turn& turn) {
  const MutexLock lock(&mutex_);
  if (std::optional<Ticket> running = JoinLocked(key); running.has_value())
    return *std::move(running);
  if (GrammarPtr found = known(); found != nullptr) return Ticket(std::move(found));
  absl::StatusOr<std::shared_ptr<Flight>> flight = Start(key, std::move(work), pool, turn);
  if (!flight.ok()) return flight.status();
  return Ticket(this, *std::move(flight), key, Ticket::Origin::kStarted);
}

absl::StatusOr<std::shared_ptr<SingleFlight::Flight>> SingleFlight::Start(
    const std::string& key, CompileWork work, WorkPool* pool, const WorkPool::Turn& turn) {
  auto flight = std::make_shared<Flight>();
  const std::optional<WorkPool::JobId> job = pool->Submit(
      [this, key, flight, work = std::move(work)] {
        Land(key, flight, OrOutOfMemory([&] { return work(flight->cancelled); }));
      },
      turn);
  if (!job.has_value()) return QueueFullError(*pool);
  flight->pool = pool;
  flight->job = *job;
  flight->waiters = 1;
  flights_.emplace(key, flight);
  return flight;
}

void SingleFlight::Land(const std::string& key, const std::shared_ptr<Flight>& flight,
                        CompileResult result) {
  std::map<std::uint64_t, std::function<void()>> listeners;
  {
    const MutexLock lock(&mutex_);
    flight->result = std::move(result);
    flight->done = true;
    Forget(key, flight);
    listeners.swap(flight->listeners);
    flight->landed.NotifyAll();
  }
  for (const auto& [number, landed] : listeners) landed();
}

void SingleFlight::Leave(const std::string& key, const std::shared_ptr<Flight>& flight,
                         std::uint64_t listener) {
  std::function<void()> untold;  // outlives the lock: what it holds may leave, too
  const MutexLock lock(&mutex_);
  if (const auto found = flight->listeners.find(listener); found != flight->listeners.end()) {
    untold = std::move(found->second);
    flight->listeners.erase(found);
  }
  if (--flight->waiters > 0 || flight->done) return;
  flight->cancelled.store(true, std::memory_order_relaxed);
  Forget(key, flight);
  flight->pool->Withdraw(flight->job);
}

void SingleFlight::Forget(const std::string& key, const std::shared_ptr<Flight>& flight) {
  // A later flight of the same key may have taken the place of a cancelled one.
  if (const auto found = flights_.find(key); found != flights_.end() && found->second == flight)
    flights_.erase(found);
}

}  // namespace maskd::cache
