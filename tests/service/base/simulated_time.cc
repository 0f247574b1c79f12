#include "tests/service/base/simulated_time.h"

#include <algorithm>

namespace maskd::service {

void SimulatedTime::WaitUntil(CondVar* /*changed*/, Mutex* mutex, TimePoint until) {
  mutex->Unlock();
  while (HappenBy(until) && !wakes_) {
  }
  mutex->Lock();
}

void SimulatedTime::Pass(Duration duration) {
  const TimePoint until = now_ + duration;
  while (HappenBy(until)) {
  }
}

void SimulatedTime::PassAll() {
  look_();
  while (!events_.empty()) HappenBy(events_.begin()->first);
}

bool SimulatedTime::HappenBy(TimePoint until) {
  look_();
  if (events_.empty() || events_.begin()->first > until) {
    now_ = std::max(now_, until);
    return false;
  }
  auto due = events_.extract(events_.begin());
  now_ = std::max(now_, due.key());
  due.mapped()();
  look_();
  return true;
}

}  // namespace maskd::service
