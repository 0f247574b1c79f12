// A thread takes an event out of gRPC's queue, adds it to those that wait, and handles all of them,
// unless the other thread is at it: then that one finds the event among those that wait.
//
// Who wakes whom  the network, through gRPC, and Alarms of other threads: both are events of the
//                 queue. A thread looks for --awake_us before it sleeps (spin), then sleeps in
//                 Next(). A large message wakes the second thread, for kWanted.
// May block       in Next() alone. An event does as much of a step as a turn has time for.
// Invariant       is_handling_ is one thread's at a time, and no event waits while it is nobody's,
//                 but between two steps of HandleAll().
// End             a thread ends when the queue's last call has. The one that handled it wakes the
//                 other, by an event or by changed_.
// Cost            a look at the queue is a call of the system, and one event has one look at most.
//                 Four locks an event that nobody else wants.
#include "service/calls/stream_queue.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "ring/yielding.h"

namespace maskd::service {
namespace {

// How long large messages are expected behind one.
constexpr std::chrono::seconds kWanted{1};
// How long the second thread looks before it asks whether it is still wanted.
constexpr std::chrono::milliseconds kLook{20};
// Others may have come behind an event that took so long.
constexpr std::chrono::microseconds kLong{50};

gpr_timespec At(Clock::Duration from_now) {
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(std::chrono::nanoseconds(from_now).count(), GPR_TIMESPAN));
}

// The queue's next event; false: there will be none. Looks for it for `awake`, unless that is 0,
// before it sleeps. `*was_there`: at the first look. `*now` is the last time that was read, by a
// clock that nobody sets, and is the next one.
bool Next(grpc::ServerCompletionQueue* events, Clock::Duration awake, ring::Yielding* yielding,
          Clock::TimePoint* now, void** tag, bool* ok, bool* was_there) {
  const Clock::TimePoint until = *now + awake;
  const bool looks_again = yielding->Pays();
  for (*was_there = true; awake > Clock::Duration::zero(); *was_there = false) {
    const auto status = events->AsyncNext(tag, ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
    if (status != grpc::CompletionQueue::TIMEOUT) return status == grpc::CompletionQueue::GOT_EVENT;
    *now = Clock::Steady()->Now();
    if (!looks_again || *now >= until || !yielding->Yield()) break;
  }
  *was_there = false;
  const bool is_event = events->Next(tag, ok);
  *now = Clock::Steady()->Now();
  return is_event;
}

}  // namespace

StreamQueue::StreamQueue(std::unique_ptr<grpc::ServerCompletionQueue> events, Clock::Duration awake)
    : events_(std::move(events)), awake_(awake) {}

StreamQueue::~StreamQueue() {
  Join();
  // A queue must be empty before it goes, with or without a thread that served it.
  events_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (events_->Next(&tag, &ok)) {
  }
}

absl::Status StreamQueue::Start() {
  try {
    thread_ = std::thread([this] { Serve(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread for the streams: ", error.what()));
  }
  return absl::OkStatus();
}

void StreamQueue::Join() {
  if (thread_.joinable())
    thread_.join();
  else if (live_streams_ + live_others_ > 0)
    Serve();  // it never had a thread
  if (second_.joinable()) second_.join();
}

// When an event came is known between two looks alone: it counts as waiting since the first of
// them, so by at most one event's time too long. A look at the clock is as dear as a known mask, so
// an event begins at the last one: the end of the one before, or the last look in vain.
void StreamQueue::Serve() {
  ring::Yielding yielding;
  Clock::TimePoint now = Clock::Steady()->Now();
  Clock::TimePoint looked = now;
  void* tag = nullptr;
  bool ok = false;
  bool was_there = false;
  do {
    if (!Next(events_.get(), awake_, &yielding, &now, &tag, &ok, &was_there)) return;
    Add(tag, ok, was_there ? looked : Clock::TimePoint::max());
    looked = Clock::TimePoint::max();
  } while (HandleAll(&now, &looked));
}

void StreamQueue::LookToo() {
  void* tag = nullptr;
  bool ok = false;
  while (AwaitLargeMessages()) {
    if (events_->AsyncNext(&tag, &ok, At(kLook)) != grpc::CompletionQueue::GOT_EVENT) continue;
    Clock::TimePoint now = Clock::Steady()->Now();
    Clock::TimePoint looked = now;
    Add(tag, ok, Clock::TimePoint::max());
    HandleAll(&now, &looked);
  }
}

bool StreamQueue::AwaitLargeMessages() {
  const MutexLock lock(&mutex_);
  while (!has_ended_ && Clock::Steady()->Now() >= wanted_until_) changed_.Wait(&mutex_);
  return !has_ended_;
}

void StreamQueue::LargeMessageCame() {
  const MutexLock lock(&mutex_);
  wanted_until_ = Clock::Steady()->Now() + kWanted;
  if (second_.joinable()) return changed_.NotifyOne();
  try {
    second_ = std::thread([this] { LookToo(); });
  } catch (const std::system_error&) {  // one thread is as right, and slower
  }
}

void StreamQueue::Add(void* tag, bool ok, Clock::TimePoint since) {
  const MutexLock lock(&mutex_);
  turns_.Add({static_cast<CallEvent*>(tag)->share(), tag, ok, since});
}

void StreamQueue::AddWaiting(Clock::TimePoint looked) {
  void* tag = nullptr;
  bool ok = false;
  while (events_->AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC)) ==
         grpc::CompletionQueue::GOT_EVENT) {
    Add(tag, ok, looked);
  }
}

bool StreamQueue::HandleAll(Clock::TimePoint* now, Clock::TimePoint* looked) {
  while (const std::optional<FairTurns::Event> event = Take()) {
    const Clock::TimePoint begin = *now;
    *looked = std::min(*looked, begin);
    Handle(*event, begin);
    *now = Clock::Steady()->Now();
    const Clock::Duration spent = *now - begin;
    const std::function<void()> afterwards = std::exchange(afterwards_, nullptr);
    const bool looks = Done(*event, spent, *now);
    if (afterwards != nullptr) afterwards();
    if (!looks && afterwards == nullptr) continue;
    if (looks) {
      AddWaiting(*looked);
      *looked = *now;
    }
    *now = Clock::Steady()->Now();
  }
  return !has_ended_;
}

std::optional<FairTurns::Event> StreamQueue::Take() {
  const MutexLock lock(&mutex_);
  if (is_handling_ || has_ended_ || turns_.empty()) return std::nullopt;
  is_handling_ = true;
  return turns_.Next();
}

void StreamQueue::Handle(const FairTurns::Event& event, Clock::TimePoint begin) {
  auto* const call = static_cast<CallEvent*>(event.tag);
  call->Waited(begin - std::min(event.since, begin));
  const Activity::Work work(&activity_, begin);
  call->Complete(event.ok);
}

// One call of each kind waits to be accepted until the server is shut down, so none means the end.
bool StreamQueue::Done(const FairTurns::Event& event, Clock::Duration spent, Clock::TimePoint now) {
  const MutexLock lock(&mutex_);
  is_handling_ = false;
  turns_.Spend(event, spent);
  if (live_streams_ + live_others_ > 0) return spent >= kLong && now >= wanted_until_;
  has_ended_ = true;
  if (second_.joinable()) {
    changed_.NotifyOne();
    alarm_.Set(events_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &wake_up_);
  }
  return false;
}

}  // namespace maskd::service
