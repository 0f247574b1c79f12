// One completion queue and one thread for each of --stream_threads. gRPC gives a stream to the
// queue whose waiting call took it, and it stays there; which queue has how many is gRPC's affair.
//
// Who wakes whom  the network, through gRPC, and Alarms of other threads: both are events of the
//                 queue. A thread looks for --awake_us before it sleeps (spin), then sleeps in
//                 Next().
// May block       in Next() alone. Of a step an event does what a turn has time for.
// Order           events that wait are handled by fair_turns.h; a thread that was busy for long
//                 looks for more before it goes on, so that none overtakes by having come first.
// End             a queue's thread ends when its last call has, which the server's shutdown brings
//                 about: each kind always has one call that waits to be accepted.
// Invariant       one thread at a time handles the events of a queue, so a stream takes no lock.
// Cost            a look at the queue is a call of the system, and one event has one look at most.
#include "service/calls/mask_service.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "cpu/processor_count.h"
#include "cpu/thread_priority.h"
#include "ring/yielding.h"
#include "service/calls/call_event.h"
#include "service/sequences/row_counts.h"
#include "service/streams/fair_turns.h"

namespace maskd::service {
namespace {

// A stream gives away a step at a time, and a step asks each thread for help once: so there is
// room for every one.
std::optional<cache::WorkPool> MakersFor(const Config& config) {
  if (config.mask_threads == 0) return std::nullopt;
  const int threads = config.mask_threads == kMaskThreadACore
                          ? std::max(2, ProcessorCount())
                          : static_cast<int>(config.mask_threads);
  const std::size_t streams = static_cast<std::size_t>(config.max_streams) + kPlaygroundStreams;
  return std::optional<cache::WorkPool>(std::in_place, threads,
                                        streams * static_cast<std::size_t>(1 + threads),
                                        cache::WorkPool::WaitingChanged(), ThreadRole::kLongWork);
}

StreamRegistry::Limits StreamLimitsOf(const Config& config) {
  const std::int64_t of_a_peer =
      config.max_peer_streams > 0 ? config.max_peer_streams : config.max_streams;
  return {.in_all = static_cast<int>(config.max_streams), .of_a_peer = static_cast<int>(of_a_peer)};
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

// Adds an event of a queue to those that wait: it came after `since`.
void AddEvent(FairTurns* turns, void* tag, bool ok, Clock::TimePoint since) {
  turns->Add({static_cast<CallEvent*>(tag)->share(), tag, ok, since});
}

// Adds all that the queue has by now and had not at `looked`.
void AddWaiting(grpc::ServerCompletionQueue* events, Clock::TimePoint looked, FairTurns* turns) {
  void* tag = nullptr;
  bool ok = false;
  while (events->AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC)) ==
         grpc::CompletionQueue::GOT_EVENT) {
    AddEvent(turns, tag, ok, looked);
  }
}

}  // namespace

void MaskService::AddTo(UnaryCalls* calls) {
  calls->AddAtOnce<v1::GetLoadRequest, v1::GetLoadResponse>(
      "/maskd.v1.MaskService/GetLoad",
      [this](const auto& request, CallView& /*call*/, auto* response) {
        const auto load = streams_.GetLoad(
            request.has_stream_number() ? std::optional(request.stream_number()) : std::nullopt);
        if (!load.ok()) return load.status();
        response->set_open_streams(static_cast<std::uint32_t>(load->placed));
        if (load->rank.has_value()) response->set_rank(static_cast<std::uint32_t>(*load->rank));
        return absl::OkStatus();
      });
}

MaskService::MaskService(const Config& config, const TokenizerShelf* tokenizers,
                         GrammarStore* grammars, const Gate* gate, metrics::Metrics* metrics)
    : thread_count_(static_cast<int>(config.stream_threads)),
      streams_(StreamLimitsOf(config)),
      long_step_threads_(ThreadRole::kLongWork),
      mask_makers_(MakersFor(config)),
      host_{.shared = {.limits = LimitsOf(config),
                       .grammars = grammars,
                       .metrics = metrics,
                       .threads = &threads_,
                       .streams = &streams_,
                       .mask_makers = mask_makers_.has_value() ? &*mask_makers_ : nullptr},
            .drain_ms = config.drain_ms,
            .hello_ms = config.hello_ms,
            .idle_ms = config.idle_ms,
            .awake = absl::Microseconds(config.awake_us),
            .tokenizers = tokenizers,
            .long_step_threads = &long_step_threads_,
            .offers = &offers_,
            .gate = gate,
            .queued_bytes = &queued_bytes_} {
  methods_.Add("/maskd.v1.MaskService/Decode");
}

MaskService::~MaskService() {
  Join();
  // A queue must be empty before it goes, with or without a thread that served it.
  for (const std::unique_ptr<Queue>& queue : queues_) {
    queue->events->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue->events->Next(&tag, &ok)) {
    }
  }
}

void MaskService::Listen(grpc::ServerBuilder* builder) {
  builder->RegisterService(&methods_);
  for (int i = 0; i < thread_count_; ++i) {
    queues_.push_back(std::make_unique<Queue>());
    queues_.back()->events = builder->AddCompletionQueue();
  }
}

absl::Status MaskService::Start(const AcceptOthers& accept_others) {
  accept_others(queues_.front()->events.get(), &queues_.front()->live_others);
  for (const std::unique_ptr<Queue>& queue : queues_)
    DecodeStream::Accept(&host_, &methods_, queue->events.get(), &queue->live_streams);
  try {
    for (const std::unique_ptr<Queue>& queue : queues_)
      queue->thread = std::thread([this, &queue = *queue] { Serve(&queue); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread for the streams: ", error.what()));
  }
  return absl::OkStatus();
}

// A look at the queue costs a call of the system: it is taken when others may have come meanwhile.
// When an event came is known between two looks alone: it counts as waiting since the first of
// them, so by at most one event's time too long. A look at the clock is as dear as a known mask, so
// an event begins at the last one: the end of the one before, or the last look in vain.
void MaskService::Serve(Queue* queue) const {
  constexpr std::chrono::microseconds kLong{50};
  const Clock::Duration awake = absl::ToChronoNanoseconds(host_.awake);
  FairTurns turns;
  ring::Yielding yielding;
  Clock::TimePoint now = Clock::Steady()->Now();
  Clock::TimePoint looked = now;
  while (true) {
    if (turns.empty()) {
      void* tag = nullptr;
      bool ok = false;
      bool was_there = false;
      if (!Next(queue->events.get(), awake, &yielding, &now, &tag, &ok, &was_there)) return;
      AddEvent(&turns, tag, ok, was_there ? looked : Clock::TimePoint::max());
      looked = Clock::TimePoint::max();
    }
    const FairTurns::Event event = turns.Next();
    const Clock::TimePoint begin = now;
    looked = std::min(looked, begin);
    auto* const call = static_cast<CallEvent*>(event.tag);
    call->Waited(begin - std::min(event.since, begin));
    {
      const Activity::Work work(&queue->activity, begin);
      call->Complete(event.ok);
    }
    now = Clock::Steady()->Now();
    const Clock::Duration spent = now - begin;
    turns.Spend(event, spent);
    // One call of each kind waits to be accepted until the server is shut down, so none means the
    // end.
    if (queue->live_streams == 0 && queue->live_others == 0) return;
    if (spent < kLong) continue;
    AddWaiting(queue->events.get(), looked, &turns);
    looked = now;
    now = Clock::Steady()->Now();
  }
}

void MaskService::Drain(std::chrono::steady_clock::time_point deadline) {
  streams_.Drain();
  streams_.WaitUntilEmpty(deadline);
}

std::vector<Pool> MaskService::pools() const {
  std::vector<Pool> pools = streams_.pools();
  pools.push_back({"rows_of_a_stream", FullestStream(), host_.shared.limits.max_rows});
  const auto busy = std::ranges::count_if(
      queues_, [](const auto& queue) { return queue->activity.since().has_value(); });
  pools.push_back({"stream_threads", busy, thread_count_});
  if (mask_makers_.has_value()) {
    pools.push_back({"mask_threads", static_cast<std::int64_t>(mask_makers_->working()),
                     static_cast<std::int64_t>(mask_makers_->thread_count())});
  }
  return pools;
}

void MaskService::Join() {
  for (const std::unique_ptr<Queue>& queue : queues_)
    if (queue->thread.joinable())
      queue->thread.join();
    else if (queue->live_streams + queue->live_others > 0)
      Serve(queue.get());  // it never had a thread
  offers_.Close();
}

}  // namespace maskd::service
