#include "service/stream_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"
#include "grammar_core/base/error.h"

namespace maskd::service {
namespace {

// Streams live long: another try soon would find no place either.
constexpr std::int64_t kRetryAfterMs = 1000;

}  // namespace

StreamRegistry::Registration::Registration(Registration&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}

StreamRegistry::Registration::~Registration() {
  if (registry_ != nullptr) {
    registry_->Remove(id_);
  }
}

absl::StatusOr<StreamRegistry::Registration> StreamRegistry::Add(
    std::function<void()> tell_going_away) {
  const MutexLock lock(&mutex_);
  if (draining_) {
    return ErrorAt(absl::StatusCode::kUnavailable, "", "DRAINING", "the server is stopping");
  }
  if (streams_.size() >= static_cast<std::size_t>(max_streams_)) {
    return cache::OverloadedError(
        "TOO_MANY_STREAMS",
        absl::StrCat("limit max_streams is ", max_streams_, ", one more needed"), kRetryAfterMs);
  }
  const std::uint64_t id = next_id_++;
  streams_.emplace(id, std::move(tell_going_away));
  return Registration(this, id);
}

void StreamRegistry::Drain() {
  const MutexLock lock(&mutex_);
  if (std::exchange(draining_, true)) {
    return;
  }
  for (const auto& [id, tell_going_away] : streams_) {
    tell_going_away();
  }
}

void StreamRegistry::WaitUntilEmpty(Clock::TimePoint deadline) {
  const MutexLock lock(&mutex_);
  while (!streams_.empty() && clock_->Now() < deadline) {
    clock_->WaitUntil(&removed_, &mutex_, deadline);
  }
}

void StreamRegistry::Remove(std::uint64_t id) {
  const MutexLock lock(&mutex_);
  streams_.erase(id);
  removed_.NotifyAll();
}

}  // namespace maskd::service
