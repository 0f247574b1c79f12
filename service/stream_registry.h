// The Decode streams open now: how many there may be, and how they learn that the server stops.
//
// Threads   any. A stream is told with the lock held: what tells it must neither block nor come
//           back here.
// Ownership registrations must not outlive the registry.
#ifndef MASKD_SERVICE_STREAM_REGISTRY_H_
#define MASKD_SERVICE_STREAM_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

class StreamRegistry {
 public:
  explicit StreamRegistry(int max_streams, Clock* clock = Clock::Steady())
      : max_streams_(max_streams), clock_(clock) {}

  // A stream's place; given back when it is destroyed.
  class Registration {
   public:
    Registration(StreamRegistry* registry, std::uint64_t id) : registry_(registry), id_(id) {}
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&&) = delete;
    ~Registration();

   private:
    StreamRegistry* registry_;
    std::uint64_t id_;
  };

  // `tell_going_away` is called at most once, on any thread, never after the registration's end.
  // Errors: RESOURCE_EXHAUSTED with a retry hint (too many streams), UNAVAILABLE (draining).
  absl::StatusOr<Registration> Add(std::function<void()> tell_going_away)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Refuses new streams and tells the open ones.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until no stream is open, or `deadline`.
  void WaitUntilEmpty(Clock::TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Remove(std::uint64_t id) ABSL_LOCKS_EXCLUDED(mutex_);

  const int max_streams_;
  Clock* const clock_;
  Mutex mutex_;
  CondVar removed_;
  // How each open stream is told.
  std::map<std::uint64_t, std::function<void()>> streams_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAM_REGISTRY_H_
