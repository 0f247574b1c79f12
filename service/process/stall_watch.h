// Watches that threads come to the end of their work, and says when one does not.
//
// Idle     a thread without work is no stall, however long it waits.
// Threads  it starts one, which looks four times in each `patience`. Add() before Start().
#ifndef MASKD_SERVICE_PROCESS_STALL_WATCH_H_
#define MASKD_SERVICE_PROCESS_STALL_WATCH_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// Looks at threads, and says when one of them makes no progress any more.
class StallWatch {
 public:
  // Since when the work goes on that takes longest; nothing without any.
  using Since = std::function<std::optional<Clock::TimePoint>()>;
  // Told when the first thread has stalled, and when none is stalled any more.
  using Changed = std::function<void(bool stalled)>;

  // `changed` is called on the watch's thread, when a first thread stalls and when none does any
  // more.
  StallWatch(std::chrono::milliseconds patience, Changed changed, Clock* clock = Clock::Steady());
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // `what` names it in the log.
  void Add(std::string what, Since since);
  // Errors: UNAVAILABLE (no thread).
  absl::Status Start();
  // Looks at all of them now; on one thread at a time.
  void Look();

 private:
  struct Watched {
    std::string what;
    Since since;
    bool is_stalled = false;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::chrono::milliseconds patience_;
  const Changed changed_;
  Clock* const clock_;
  std::vector<Watched> watched_;
  bool any_stalled_ = false;

  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_STALL_WATCH_H_
