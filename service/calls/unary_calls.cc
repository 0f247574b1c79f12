// What the calls share, and the thread of their events. Between two events it looks at what time
// brings to calls that wait for a slot.
#include "service/calls/unary_calls.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cpu/processor_count.h"
#include "service/base/errors.h"
#include "service/calls/call_event.h"
#include "service/calls/event_queue.h"

namespace maskd::service {
namespace {

// As many as stay within the bound when each receives the largest message that is allowed; at least
// one, else no call could be served at all. A bound of exabytes is as good as none.
int SlotsOf(const Config& config) {
  return static_cast<int>(std::clamp<std::int64_t>(
      config.max_receiving_bytes / config.max_message_bytes, 1, std::numeric_limits<int>::max()));
}

// Calls for each processor that have just begun, and jobs of calls.
constexpr int kAtWork = 1;
// Fewer would have one caller's work wait for another's where there is one processor.
constexpr int kLeastAtWork = 2;

int AtWork() { return std::max(kLeastAtWork, kAtWork * ProcessorCount()); }

gpr_timespec DeadlineOf(Clock::TimePoint time, Clock::TimePoint now) {
  if (time == Clock::TimePoint::max()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(time - now);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(std::max<std::int64_t>(0, wait.count()), GPR_TIMESPAN));
}

}  // namespace

UnaryCalls::UnaryCalls(const Config& config, Admit admit, metrics::Metrics* metrics,
                       std::function<void()> forget)
    : host_{.admit = std::move(admit),
            .count =
                [metrics](const absl::Status& refused) {
                  if (metrics != nullptr)
                    metrics->Refused(absl::StatusCodeToString(refused.code()), WireReason(refused));
                },
            .forget = std::move(forget),
            .slots = ReceiveSlots(SlotsOf(config), AtWork()),
            .unread = UnreadReplies(config.max_unread_reply_bytes),
            .threads = CallThreads(AtWork())} {}

UnaryCalls::~UnaryCalls() { Join(); }

void UnaryCalls::Add(std::string name, CallMethod method) {
  host_.methods.Add(std::move(name));
  host_.works.push_back(std::move(method));
}

void UnaryCalls::Listen(grpc::ServerBuilder* builder) {
  builder->RegisterService(&host_.methods);
  host_.events = MakeEventQueue();
}

absl::Status UnaryCalls::Start() {
  try {
    thread_ = std::thread([this] { Serve(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread for calls: ", error.what()));
  }
  return absl::OkStatus();
}

void UnaryCalls::Accept(grpc::ServerCompletionQueue* queue, int* live) {
  for (int method = 0; method < host_.methods.count(); ++method)
    UnaryCall::Accept(&host_, method, queue, live);
}

void UnaryCalls::Serve() {
  while (true) {
    const Clock::TimePoint look = host_.slots.Look();
    void* tag = nullptr;
    bool ok = false;
    const auto status =
        host_.events->AsyncNext(&tag, &ok, DeadlineOf(look, Clock::Steady()->Now()));
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::TIMEOUT) continue;
    const Activity::Work work(&activity_, Clock::Steady()->Now());
    static_cast<CallEvent*>(tag)->Complete(ok);
  }
}

void UnaryCalls::Join() {
  if (host_.events == nullptr) return;
  // Without its thread none was accepted.
  for (int open = host_.open; open > 0; open = host_.open) host_.open.wait(open);
  host_.events->Shutdown();
  if (thread_.joinable())
    thread_.join();
  else
    Serve();
  host_.events = nullptr;
}

std::vector<Pool> UnaryCalls::pools() const {
  const OpenCalls::Fullest fullest = host_.places.fullest();
  return {{"calls", running(), UnaryHost::kMostOpen},
          {"caller_calls", fullest.open, fullest.most},
          {"receive_slots", host_.slots.held(), host_.slots.count()},
          {"unread_reply_bytes", host_.unread.bytes(), host_.unread.max_bytes()}};
}

}  // namespace maskd::service
