// An atomic and no lock, as every step takes it and hardly ever a rest. A step waits for a rest,
// which looks for that after each row and is short. A rest never waits for a step: what
// it leaves out comes after that step.
#include "service/streams/session_turns.h"

namespace maskd::service {

void SessionTurns::BeginStep() {
  Use seen = Use::kNobody;
  while (!use_.compare_exchange_weak(seen, Use::kStep, std::memory_order_acquire)) {
    if (seen == Use::kStep) return;  // the last one was given up
    if (seen == Use::kRest) use_.compare_exchange_strong(seen, Use::kAwaitedRest);
    use_.wait(Use::kAwaitedRest);  // returns at once when the rest has just ended
    seen = Use::kNobody;
  }
}

void SessionTurns::EndStep() { use_.store(Use::kNobody, std::memory_order_release); }

bool SessionTurns::TryBeginRest() {
  Use nobody = Use::kNobody;
  return use_.compare_exchange_strong(nobody, Use::kRest, std::memory_order_acquire);
}

void SessionTurns::EndRest() {
  use_.store(Use::kNobody, std::memory_order_release);
  // Only a step can be waiting, and only for a rest: EndStep() has nobody to wake.
  use_.notify_all();
}

}  // namespace maskd::service
