// The order in which one thread handles the events that wait for it: by the work that their owners
// have had of the thread, so that one with long steps does not hold up those with short ones.
//
//   turns.Add({stream->share(), tag, ok});       // each that waits
//   const FairTurns::Event event = turns.Next();
//   turns.Spend(event, handle(event));           // how long it took
//
// Order    fair queueing (Demers, Keshav, Shenker 1989) with the start tags of Goyal, Vin and Cheng
//          (1996). An event starts where its owner's last one ended, or where the event at work
//          started, if that is later. Next comes the event that is expected to end first. What
//          is expected is the longest of the owner's latest events. Events of one owner keep their
//          order; those of nobody are expected to take no time.
// Bound    an event that takes t waits for the one at work and for owners who have had no more, or
//          take no longer: owners of steps of 200 us, however many there are, hold it up by one
//          such step. Who always has an event waiting has its part of the thread, however short
//          others are.
// Cost     a heap of those that wait, mostly one.
// Threads  one thread at a time; an owner has its events in one FairTurns.
#ifndef MASKD_SERVICE_STREAMS_FAIR_TURNS_H_
#define MASKD_SERVICE_STREAMS_FAIR_TURNS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "grammar_core/base/clock.h"

namespace maskd::service {

// The events that wait for one thread.
class FairTurns {
 public:
  using Duration = std::chrono::nanoseconds;

  // What an owner of events has had.
  struct Share {
    Duration end = Duration::zero();       // of its last event, as tags count
    Duration expected = Duration::zero();  // of its next one
    Duration last = Duration::zero();      // where the one that came last is to end
    int waiting = 0;
  };
  // An event of a completion queue, and whose it is.
  struct Event {
    std::shared_ptr<Share> owner;  // may be null
    void* tag = nullptr;
    bool ok = false;
    Clock::TimePoint since = Clock::TimePoint::max();  // it came after that; max(): just now
  };

  // Puts it behind those that end sooner.
  void Add(Event event);
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  // Takes the next one out. Requires a waiting event.
  Event Next();
  // `event`, which Next() gave last, took `spent`.
  void Spend(const Event& event, Duration spent);

 private:
  struct Waiting {
    Duration start;
    Duration end;
    Duration expected;
    std::uint64_t number;
    Event event;
  };
  static bool IsLater(const Waiting& a, const Waiting& b);

  Duration now_ = Duration::zero();  // the start of what was handled last
  std::uint64_t number_ = 0;
  std::vector<Waiting> waiting_;  // a heap
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_FAIR_TURNS_H_
