// Each thread that is watched says since when it is at what it does, or that it is idle; one that
// says the same for longer than `patience` is stalled. Looked at from outside, a few times in that
// span, so that the threads themselves pay one store for each piece of work.
//
// Who wakes whom  nobody wakes the watch but its end; it tells health (`changed`) on its own
// thread. May block       between two looks. What it asks of a thread takes no lock of that
// thread's.
#include "service/process/stall_watch.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "service/base/log.h"

namespace maskd::service {
namespace {

constexpr int kLooksInPatience = 4;

std::int64_t Milliseconds(Clock::Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

StallWatch::StallWatch(std::chrono::milliseconds patience, Changed changed, Clock* clock)
    : patience_(patience), changed_(std::move(changed)), clock_(clock) {}

StallWatch::~StallWatch() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void StallWatch::Add(std::string what, Since since) {
  watched_.push_back({std::move(what), std::move(since)});
}

absl::Status StallWatch::Start() {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread: ", error.what()));
  }
  return absl::OkStatus();
}

void StallWatch::Run() {
  for (;;) {
    {
      const MutexLock lock(&mutex_);
      const Clock::TimePoint next = clock_->Now() + patience_ / kLooksInPatience;
      while (!stopping_ && clock_->Now() < next) clock_->WaitUntil(&stop_, &mutex_, next);
      if (stopping_) return;
    }
    Look();
  }
}

void StallWatch::Look() {
  const Clock::TimePoint now = clock_->Now();
  for (Watched& watched : watched_) {
    const std::optional<Clock::TimePoint> since = watched.since();
    const bool is_stalled = since.has_value() && now - *since > patience_;
    if (std::exchange(watched.is_stalled, is_stalled) == is_stalled) continue;
    LogEvent(is_stalled ? "stalled" : "stall_over",
             {{"what", watched.what},
              {"ms", absl::StrCat(is_stalled ? Milliseconds(now - *since) : 0)}});
  }
  const bool any = std::any_of(watched_.begin(), watched_.end(),
                               [](const Watched& watched) { return watched.is_stalled; });
  // Only the first stall and the end of the last one: health has one name for them all.
  if (std::exchange(any_stalled_, any) != any) changed_(any);
}

}  // namespace maskd::service
