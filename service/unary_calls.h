// What all of our unary calls have in common: when each may send its message, and how much of their
// replies may lie unread. They are served as gRPC's "streamed unary" calls, so that a message is
// read when we say so, and not as it comes.
//
// Bounds   messages that are being received: as many as there are slots (receive_slots.h), each of
//          at most max_message_bytes. Replies: by their bytes (unread_replies.h).
// Threads  any number of calls, each on its own.
#ifndef MASKD_SERVICE_UNARY_CALLS_H_
#define MASKD_SERVICE_UNARY_CALLS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "grammar_core/base/memory_reserve.h"
#include "memory/account.h"
#include "service/caller.h"
#include "service/config.h"
#include "service/receive_slots.h"
#include "service/status_map.h"
#include "service/unread_replies.h"

namespace maskd::service {

// What the unary calls of a server share.
class UnaryCalls {
 public:
  // Who a call's caller is, and whether it may call.
  using Admit = std::function<absl::StatusOr<Caller>(const grpc::ServerContextBase& context)>;
  UnaryCalls(const Config& config, Admit admit);

  // Admits the caller, reads the request, calls run(request, caller, &response) and sends the
  // response, if that was OK. RESOURCE_EXHAUSTED where any of that ran out of memory.
  template <typename Request, typename Response, typename Run>
  grpc::Status Serve(grpc::ServerContext* context,
                     grpc::ServerUnaryStreamer<Request, Response>* call, Run run) {
    grpc::Status status;
    const absl::Status served = OrOutOfMemory([&] {
      status = DoServe(context, call, run);
      return absl::OkStatus();
    });
    return served.ok() ? status : ToGrpcStatus(served);
  }

  // Counts a reply of `bytes` for the call, before it is made or as soon as its size is known,
  // until it is sent. Errors: those of UnreadReplies::Add(), and nothing is counted.
  absl::Status CountReply(const grpc::ServerContext* context, std::int64_t bytes);

  // For figures.
  [[nodiscard]] const ReceiveSlots& slots() const { return slots_; }
  [[nodiscard]] const UnreadReplies& unread() const { return unread_; }
  // Bytes of requests that were read and are being answered.
  [[nodiscard]] const memory::Account& received() const { return received_; }

 private:
  // At its end the call's reply counts no more.
  struct Uncounted {
    UnreadReplies* unread;
    const void* call;
    ~Uncounted() { unread->Remove(call); }
  };

  template <typename Request, typename Response, typename Run>
  grpc::Status DoServe(grpc::ServerContext* context,
                       grpc::ServerUnaryStreamer<Request, Response>* call, const Run& run) {
    const absl::StatusOr<Caller> caller = admit_(*context);
    if (!caller.ok()) return ToGrpcStatus(caller.status());
    Request request;
    const grpc::Status read = Receive(context, [&] { return call->Read(&request); });
    if (!read.ok()) return read;
    const memory::Charge received(&received_, static_cast<std::int64_t>(request.ByteSizeLong()));
    const Uncounted uncounted{&unread_, context};
    Response response;
    const grpc::Status status = run(request, *caller, &response);
    if (status.ok()) call->Write(response);  // returns when it is sent or cannot be
    return status;
  }

  grpc::Status Receive(const grpc::ServerContext* context, const std::function<bool()>& read);

  const Admit admit_;
  ReceiveSlots slots_;
  memory::Account received_;
  UnreadReplies unread_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_UNARY_CALLS_H_
