// All of a server's unary calls: when each may send its message, where its work is done, and how
// much of their replies may lie unread. No call has a thread: one thread takes the events of all,
// and few threads do what they compute.
//
// Refused  whatever ends a call with an error is counted here, once, by its code and reason.
// Bounds   calls that are open: UnaryHost::kMostOpen, and a caller's share of them
//          (open_calls.h). Messages that are being received: as many as
//          there are slots (receive_slots.h), each of at most max_message_bytes. Replies: by their
//          bytes (unread_replies.h).
// Turns    a call keeps its slot until its message is read and its work is begun, and is worked at
//          by few threads (call_threads.h): one more is not behind all that have come before it.
// Queues   calls come by a queue of the streams, whose thread passes them on; the thread of the
//          events waits for no socket. In the packaged gRPC one thread of a process at a time looks
//          at all sockets, and a second one would be handed the messages of the streams first.
// Order    Add() each method, Listen(), the server is built, Start(), Accept(); the server is shut
//          down, Join().
#ifndef MASKD_SERVICE_CALLS_UNARY_CALLS_H_
#define MASKD_SERVICE_CALLS_UNARY_CALLS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include "memory/account.h"
#include "metrics/registry.h"
#include "service/base/activity.h"
#include "service/base/pools.h"
#include "service/callers/caller.h"
#include "service/callers/receive_slots.h"
#include "service/callers/unread_replies.h"
#include "service/calls/call_work.h"
#include "service/calls/unary_call.h"
#include "service/config/config.h"

namespace maskd::service {

// What the unary calls of a server share.
class UnaryCalls {
 public:
  // As UnaryHost::admit.
  using Admit = std::function<absl::StatusOr<Caller>(const grpc::ServerContextBase& context)>;

  // What is refused is counted in `metrics`, unless it is null. `forget`, unless it is empty, is
  // called behind a large message on the thread that read it: it may be idle from there on.
  UnaryCalls(const Config& config, Admit admit, metrics::Metrics* metrics = nullptr,
             std::function<void()> forget = {});
  // Join()s. The server must be gone.
  ~UnaryCalls();
  UnaryCalls(const UnaryCalls&) = delete;
  UnaryCalls& operator=(const UnaryCalls&) = delete;

  // `name` as RawMethods::Add() says.
  void Add(std::string name, CallMethod method);
  // A method that waits for nothing: run(request, call, &response), an absl::Status; `call` is a
  // CallView.
  template <typename Request, typename Response, typename Run>
  void AddAtOnce(std::string name, Run run) {
    const auto kept = std::make_shared<const Run>(std::move(run));
    Add(std::move(name),
        [kept] { return std::make_unique<WorkAtOnce<Request, Response, Run>>(kept.get()); });
  }

  // Registers the methods.
  void Listen(grpc::ServerBuilder* builder);
  // Errors: UNAVAILABLE (no thread).
  absl::Status Start();
  // Takes calls that come by `queue`, once it is served. `*live` counts what waits there, and is
  // changed on the queue's thread alone.
  void Accept(grpc::ServerCompletionQueue* queue, int* live);
  // Waits for the end of the calls.
  void Join();

  // Calls that are being served, until they are answered. Any thread.
  [[nodiscard]] int running() const { return host_.running.load(std::memory_order_relaxed); }
  // Those, messages that are being received, and replies that lie unread. Any thread.
  [[nodiscard]] std::vector<Pool> pools() const;
  // For figures.
  [[nodiscard]] const ReceiveSlots& slots() const { return host_.slots; }
  [[nodiscard]] const UnreadReplies& unread() const { return host_.unread; }
  // Bytes of requests that were read and are being answered.
  [[nodiscard]] const memory::Account& received() const { return host_.received; }
  // Since when the thread of the events is at what it does; nothing when it waits. Any thread.
  [[nodiscard]] std::optional<Clock::TimePoint> busy_since() const { return activity_.since(); }

 private:
  void Serve();

  UnaryHost host_;
  Activity activity_;  // of the events' thread
  std::thread thread_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_UNARY_CALLS_H_
