// Who has the rows of a stream: its step, or between two steps the thread of IdleRows.
//
// Threads  steps: one at a time. Rests: one at a time, beside them.
#ifndef MASKD_SERVICE_STREAMS_SESSION_TURNS_H_
#define MASKD_SERVICE_STREAMS_SESSION_TURNS_H_

#include <atomic>
#include <cstdint>

namespace maskd::service {

// The one use that a stream's rows are in.
class SessionTurns {
 public:
  // Waits for a rest to end, which it is told. A step that was given up and not ended goes on as
  // this one.
  void BeginStep();
  void EndStep();

  // False within a step: then there is nothing to end.
  [[nodiscard]] bool TryBeginRest();
  void EndRest();
  // Within a rest: whether a step waits for its end. Rows are many, and a step is not to wait for
  // all of them.
  [[nodiscard]] bool IsAwaited() const {
    return use_.load(std::memory_order_relaxed) == Use::kAwaitedRest;
  }

 private:
  enum class Use : std::uint8_t { kNobody, kStep, kRest, kAwaitedRest };

  std::atomic<Use> use_ = Use::kNobody;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_SESSION_TURNS_H_
