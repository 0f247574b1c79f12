// Replies of unary calls that were made and have not been sent: what their callers do not read.
//
//   if (absl::Status room = unread.Add(call, bytes, cancel); !room.ok()) return room;
//   unread.Remove(call);  // when the reply, made meanwhile, is sent or cannot be
//
// Bound    by their bytes in all, counted before a reply is made. Past it a call is refused, and
//          the oldest reply is cancelled if its caller has had kPatience to read it: nobody keeps
//          the others out for longer.
// Threads  any. A call is cancelled with the lock held: what cancels it must not come back here.
#ifndef MASKD_SERVICE_CALLERS_UNREAD_REPLIES_H_
#define MASKD_SERVICE_CALLERS_UNREAD_REPLIES_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The replies that lie unread, the oldest first.
class UnreadReplies {
 public:
  static constexpr std::chrono::seconds kPatience{10};

  // `clock` must outlive this.
  explicit UnreadReplies(std::int64_t max_bytes, Clock* clock = Clock::Steady())
      : max_bytes_(max_bytes), clock_(clock) {}

  // Counts `bytes` more for the reply of `call`. `cancel` ends the call; it is called at most once,
  // never after Remove(). Errors: RESOURCE_EXHAUSTED with a retry hint.
  absl::Status Add(const void* call, std::int64_t bytes, std::function<void()> cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Does nothing for a call that is not there.
  void Remove(const void* call) ABSL_LOCKS_EXCLUDED(mutex_);

  // Of all replies.
  [[nodiscard]] std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // What they may be at most.
  [[nodiscard]] std::int64_t max_bytes() const { return max_bytes_; }

 private:
  struct Reply {
    const void* call;
    std::int64_t bytes;
    Clock::TimePoint made;
    std::function<void()> cancel;  // none: it was called
  };

  void CancelOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::int64_t max_bytes_;
  Clock* const clock_;
  std::atomic<std::int64_t> bytes_ = 0;  // changed with the lock held
  Mutex mutex_;
  std::list<Reply> replies_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  absl::flat_hash_map<const void*, std::list<Reply>::iterator> by_call_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_UNREAD_REPLIES_H_
