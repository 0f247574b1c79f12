// A unary call begins by waiting for a slot and ends by counting its reply; both may cancel another
// call through its context, which gRPC allows from any thread.
#include "service/calls/unary_calls.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/processor_count.h"
#include "service/base/errors.h"
#include "service/wire/status_map.h"

namespace maskd::service {
namespace {

// As many as stay within the bound when each receives the largest message that is allowed; at least
// one, else no call could be served at all. A bound of exabytes is as good as none.
int SlotsOf(const Config& config) {
  return static_cast<int>(std::clamp<std::int64_t>(
      config.max_receiving_bytes / config.max_message_bytes, 1, std::numeric_limits<int>::max()));
}

// Calls for each processor that have just begun.
constexpr int kAtWork = 1;

}  // namespace

UnaryCalls::UnaryCalls(const Config& config, Admit admit, metrics::Metrics* metrics,
                       std::function<void()> forget)
    : admit_(std::move(admit)),
      metrics_(metrics),
      forget_(std::move(forget)),
      slots_(SlotsOf(config), kAtWork * ProcessorCount()),
      unread_(config.max_unread_reply_bytes) {}

absl::Status UnaryCalls::CountReply(const grpc::ServerContext* context, std::int64_t bytes) {
  return unread_.Add(context, bytes, [context] { context->TryCancel(); });
}

std::vector<Pool> UnaryCalls::pools() const {
  return {{"receive_slots", slots_.held(), slots_.count()},
          {"unread_reply_bytes", unread_.bytes(), unread_.max_bytes()}};
}

absl::StatusOr<ReceiveSlots::Slot> UnaryCalls::Receive(const grpc::ServerContext* context,
                                                       const Caller& caller,
                                                       const std::function<bool()>& read) {
  absl::StatusOr<ReceiveSlots::Slot> slot =
      slots_.Take(TurnOwner(caller), [context] { context->TryCancel(); });
  if (!slot.ok() || read()) return slot;
  if (context->IsCancelled()) return absl::CancelledError("cancelled");
  return BadField("", "the call has no message, or one that is none of its kind");
}

grpc::Status UnaryCalls::End(const absl::Status& status) const {
  if (!status.ok() && metrics_ != nullptr)
    metrics_->Refused(absl::StatusCodeToString(status.code()), WireReason(status));
  return ToGrpcStatus(status);
}

}  // namespace maskd::service
