// A completion queue of the Decode streams, and the threads that serve it.
//
// Order     events that wait are handled by fair_turns.h. A thread that was busy for long looks for
//           more before it goes on, so that none overtakes by having come first.
// Threads   one thread at a time handles the events of a queue, so what belongs to a queue takes no
//           lock for it. One thread serves it; a second one looks for events, too, while large
//           messages come: gRPC reads a message on the thread that looks, and what has come
//           meanwhile would wait for that.
// Ownership of the queue and its threads; a stream belongs to the queue that accepted it.
#ifndef MASKD_SERVICE_CALLS_STREAM_QUEUE_H_
#define MASKD_SERVICE_CALLS_STREAM_QUEUE_H_

#include <atomic>
#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "service/base/activity.h"
#include "service/calls/call_event.h"
#include "service/streams/fair_turns.h"

namespace maskd::service {

// Where the events of some streams come, and who handles them.
class StreamQueue {
 public:
  // A thread looks for the next event for `awake` before it sleeps.
  StreamQueue(std::unique_ptr<grpc::ServerCompletionQueue> events, Clock::Duration awake);
  // Join()s, and empties the queue. The server must be gone.
  ~StreamQueue();
  StreamQueue(const StreamQueue&) = delete;
  StreamQueue& operator=(const StreamQueue&) = delete;

  [[nodiscard]] grpc::ServerCompletionQueue* events() const { return events_.get(); }
  // Streams and other calls of the queue, those that wait to be accepted among them. Changed before
  // Start(), and by whoever handles an event.
  [[nodiscard]] int* live_streams() { return &live_streams_; }
  [[nodiscard]] int* live_others() { return &live_others_; }

  // Errors: UNAVAILABLE (no thread).
  absl::Status Start();
  // Waits until the last call has ended, which the server's shutdown brings about: until then one
  // call of each kind waits to be accepted. Serves them where the queue never had a thread.
  void Join();

  // Says that a message has come that takes long to read. By who handles an event.
  void LargeMessageCame() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `job` on this thread when the event that is handled is done, and another thread may handle
  // the next: for what wakes threads, one of which may take the core. By who handles an event, once
  // for each.
  void Afterwards(std::function<void()> job) {
    assert(afterwards_ == nullptr);
    afterwards_ = std::move(job);
  }

  // Since when the event that is handled has been; nothing when none is. Any thread.
  [[nodiscard]] std::optional<Clock::TimePoint> busy_since() const { return activity_.since(); }

 private:
  // What ends a thread's wait, and nothing else.
  class WakeUp final : public CallEvent {
   public:
    void Complete(bool /*ok*/) override {}
  };

  void Serve() ABSL_LOCKS_EXCLUDED(mutex_);
  // The second thread: looks for events while it is wanted.
  void LookToo() ABSL_LOCKS_EXCLUDED(mutex_);
  bool AwaitLargeMessages() ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(void* tag, bool ok, Clock::TimePoint since) ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds all that the queue has by now and had not at `looked`.
  void AddWaiting(Clock::TimePoint looked) ABSL_LOCKS_EXCLUDED(mutex_);
  // Handles all events that wait, unless another thread is at it. `*now` was read last, and is
  // again; `*looked` is since when events may have come. False: the queue has come to its end.
  bool HandleAll(Clock::TimePoint* now, Clock::TimePoint* looked) ABSL_LOCKS_EXCLUDED(mutex_);
  // The next event, for the calling thread alone to handle; nothing: there is none, or another
  // thread is at one.
  std::optional<FairTurns::Event> Take() ABSL_LOCKS_EXCLUDED(mutex_);
  void Handle(const FairTurns::Event& event, Clock::TimePoint begin);
  // It took `spent`, until `now`. True: others may have come meanwhile, and nobody has looked.
  bool Done(const FairTurns::Event& event, Clock::Duration spent, Clock::TimePoint now)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::unique_ptr<grpc::ServerCompletionQueue> events_;
  const Clock::Duration awake_;
  int live_streams_ = 0;
  int live_others_ = 0;
  std::function<void()> afterwards_;  // of the event that is handled
  Activity activity_;
  WakeUp wake_up_;
  grpc::Alarm alarm_;

  std::atomic<bool> has_ended_ = false;

  Mutex mutex_;
  CondVar changed_;  // for the second thread
  FairTurns turns_ ABSL_GUARDED_BY(mutex_);
  bool is_handling_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::TimePoint wanted_until_ ABSL_GUARDED_BY(mutex_);  // the second thread
  std::thread thread_;
  std::thread second_;  // from the first large message on
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_STREAM_QUEUE_H_
