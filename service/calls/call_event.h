// What a completion queue of ours knows an operation by: who is told that it has ended.
#ifndef MASKD_SERVICE_CALLS_CALL_EVENT_H_
#define MASKD_SERVICE_CALLS_CALL_EVENT_H_

#include <memory>

#include "grammar_core/base/clock.h"
#include "service/streams/fair_turns.h"

namespace maskd::service {

// What a completion queue gives back: an operation that has ended, and whose it is.
class CallEvent {
 public:
  // Whose work it is; null where it is nobody's.
  [[nodiscard]] virtual std::shared_ptr<FairTurns::Share> share() const { return nullptr; }
  // It has lain in the queue for so long, at most. Before Complete(), on the queue's thread.
  virtual void Waited(Clock::Duration /*waited*/) {}
  // The operation has ended, `ok` or not. On the queue's thread.
  virtual void Complete(bool ok) = 0;

 protected:
  ~CallEvent() = default;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_CALL_EVENT_H_
