// A unary call begins by waiting for a slot and ends by counting its reply; both may cancel another
// call through its context, which gRPC allows from any thread.
#include "service/unary_calls.h"

#include <algorithm>
#include <utility>

#include "service/errors.h"
#include "service/status_map.h"

namespace maskd::service {
namespace {

// As many as stay within the bound when each receives the largest message that is allowed; at least
// one, else no call could be served at all.
int SlotsOf(const Config& config) {
  return static_cast<int>(
      std::max<std::int64_t>(1, config.max_receiving_bytes / config.max_message_bytes));
}

}  // namespace

UnaryCalls::UnaryCalls(const Config& config, Admit admit)
    : admit_(std::move(admit)), slots_(SlotsOf(config)), unread_(config.max_unread_reply_bytes) {}

absl::Status UnaryCalls::CountReply(const grpc::ServerContext* context, std::int64_t bytes) {
  return unread_.Add(context, bytes, [context] { context->TryCancel(); });
}

grpc::Status UnaryCalls::Receive(const grpc::ServerContext* context,
                                 const std::function<bool()>& read) {
  const absl::StatusOr<ReceiveSlots::Slot> slot = slots_.Take([context] { context->TryCancel(); });
  if (!slot.ok()) return ToGrpcStatus(slot.status());
  if (read()) return grpc::Status::OK;
  if (context->IsCancelled()) return grpc::Status(grpc::StatusCode::CANCELLED, "cancelled");
  return ToGrpcStatus(BadField("", "the call has no message, or one that is none of its kind"));
}

}  // namespace maskd::service
