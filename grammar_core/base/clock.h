// What time it is and how one waits for a change: the system's monotonic clock, or that of a
// simulation, where things happen because somebody waits.
//
// Threads   the system's: any. Ownership  nobody's: it outlives those who use it.
#ifndef MASKD_GRAMMAR_CORE_BASE_CLOCK_H_
#define MASKD_GRAMMAR_CORE_BASE_CLOCK_H_

#include <chrono>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/mutex.h"

namespace maskd {

// Injected wherever something waits or expires, so that a test decides when.
class Clock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  // Monotonic; of no relation to the calendar.
  virtual TimePoint Now() = 0;
  // Gives `mutex` back while it waits, until a notification of `changed`, `until`, or no reason at
  // all: look again in a loop.
  virtual void WaitUntil(CondVar* changed, Mutex* mutex, TimePoint until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;

  // The system's, which lives as long as the process.
  static Clock* Steady();
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_CLOCK_H_
