// What all of our unary calls have in common: when each may send its message, and how much of their
// replies may lie unread. They are served as gRPC's "streamed unary" calls, so that a message is
// read when we say so, and not as it comes.
//
// Refused  whatever ends a call with an error is counted here, once, by its code and reason.
// Bounds   messages that are being received: as many as there are slots (receive_slots.h), each of
//          at most max_message_bytes. Replies: by their bytes (unread_replies.h).
// Turns    a call keeps its slot until it has its answer or says that it waits for others. So few
//          calls compute at once, and one more is not behind all that have come before it.
// Threads  any number of calls, each on its own.
#ifndef MASKD_SERVICE_CALLS_UNARY_CALLS_H_
#define MASKD_SERVICE_CALLS_UNARY_CALLS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "grammar_core/base/memory_reserve.h"
#include "memory/account.h"
#include "metrics/registry.h"
#include "service/base/pools.h"
#include "service/callers/caller.h"
#include "service/callers/receive_slots.h"
#include "service/callers/unread_replies.h"
#include "service/config/config.h"

namespace maskd::service {

// What the unary calls of a server share.
class UnaryCalls {
 public:
  // Who a call's caller is, and whether it may call.
  using Admit = std::function<absl::StatusOr<Caller>(const grpc::ServerContextBase& context)>;
  // What is refused is counted in `metrics`, unless it is null. `forget`, unless it is empty, is
  // called behind a large message on the thread that read it: it may be idle from there on.
  UnaryCalls(const Config& config, Admit admit, metrics::Metrics* metrics = nullptr,
             std::function<void()> forget = {});

  // A call whose request has been read.
  class Begun {
   public:
    Begun(const Caller* caller, ReceiveSlots::Slot slot)
        : caller_(caller), slot_(std::move(slot)) {}
    [[nodiscard]] const Caller& caller() const { return *caller_; }
    // From here on it waits for others, or works for long: its turn is over. Again: nothing.
    void EndTurn() { slot_.reset(); }

   private:
    const Caller* const caller_;
    std::optional<ReceiveSlots::Slot> slot_;
  };

  // Admits the caller, reads the request, calls run(request, begun, &response), an absl::Status,
  // and sends the response, if that was OK. RESOURCE_EXHAUSTED where any of that ran out of memory.
  template <typename Request, typename Response, typename Run>
  grpc::Status Serve(grpc::ServerContext* context,
                     grpc::ServerUnaryStreamer<Request, Response>* call, Run run) {
    const Running running(&running_);
    std::int64_t bytes = 0;
    const absl::Status status = OrOutOfMemory([&] { return DoServe(context, call, run, &bytes); });
    if (bytes > kLargeBytes && forget_ != nullptr) forget_();
    return End(status);
  }

  // Counts a reply of `bytes` for the call, before it is made or as soon as its size is known,
  // until it is sent. Errors: those of UnreadReplies::Add(), and nothing is counted.
  absl::Status CountReply(const grpc::ServerContext* context, std::int64_t bytes);

  // Calls that are being served: each has a thread of gRPC's. Any thread.
  [[nodiscard]] int running() const { return running_.load(std::memory_order_relaxed); }
  // Messages that are being received, and replies that lie unread. Any thread.
  [[nodiscard]] std::vector<Pool> pools() const;
  // For figures.
  [[nodiscard]] const ReceiveSlots& slots() const { return slots_; }
  [[nodiscard]] const UnreadReplies& unread() const { return unread_; }
  // Bytes of requests that were read and are being answered.
  [[nodiscard]] const memory::Account& received() const { return received_; }

 private:
  // A call that is being served, however it ends.
  class Running {
   public:
    explicit Running(std::atomic<int>* count) : count_(count) {
      count_->fetch_add(1, std::memory_order_relaxed);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { count_->fetch_sub(1, std::memory_order_relaxed); }

   private:
    std::atomic<int>* const count_;
  };

  // Messages behind which a thread keeps no memory for its next call.
  static constexpr std::int64_t kLargeBytes = 4 << 10;

  // At its end the call's reply counts no more.
  struct Uncounted {
    UnreadReplies* unread;
    const void* call;
    // However the call ends.
    ~Uncounted() { unread->Remove(call); }
  };

  template <typename Request, typename Response, typename Run>
  absl::Status DoServe(grpc::ServerContext* context,
                       grpc::ServerUnaryStreamer<Request, Response>* call, const Run& run,
                       std::int64_t* bytes) {
    const absl::StatusOr<Caller> caller = admit_(*context);
    if (!caller.ok()) return caller.status();
    Request request;
    absl::StatusOr<ReceiveSlots::Slot> slot =
        Receive(context, *caller, [&] { return call->Read(&request); });
    if (!slot.ok()) return slot.status();
    Begun begun(&*caller, *std::move(slot));
    *bytes = static_cast<std::int64_t>(request.ByteSizeLong());
    slots_.Charge(TurnOwner(*caller), *bytes);
    const memory::Charge received(&received_, *bytes);
    const Uncounted uncounted{&unread_, context};
    Response response;
    const absl::Status status = run(request, begun, &response);
    begun.EndTurn();
    if (status.ok()) call->Write(response);  // returns when it is sent or cannot be
    return status;
  }

  absl::StatusOr<ReceiveSlots::Slot> Receive(const grpc::ServerContext* context,
                                             const Caller& caller,
                                             const std::function<bool()>& read);
  [[nodiscard]] grpc::Status End(const absl::Status& status) const;

  const Admit admit_;
  metrics::Metrics* const metrics_;
  const std::function<void()> forget_;
  std::atomic<int> running_ = 0;
  ReceiveSlots slots_;
  memory::Account received_;
  UnreadReplies unread_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_UNARY_CALLS_H_
