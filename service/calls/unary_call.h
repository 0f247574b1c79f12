// One unary call on the server, from before it comes until its last operation has ended. While it
// waits, for its turn or for a compile, it holds no thread.
//
//   asked for --comes--> waits for a slot --read--> begun --(waits for a compile)--> answered
//
// Threads  a stream's queue says that it comes; from there on its operations end on the thread of
//          the calls' events. Its work is done on call threads, by one at a time.
// Leaving  a caller that has left while the call waits has it answered at once, so its compile is
//          let go.
// Ownership  of itself, until gRPC has no operation of it; and of whoever is to go on with it.
#ifndef MASKD_SERVICE_CALLS_UNARY_CALL_H_
#define MASKD_SERVICE_CALLS_UNARY_CALL_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "grammar_core/base/mutex.h"
#include "memory/account.h"
#include "service/callers/call_threads.h"
#include "service/callers/caller.h"
#include "service/callers/open_calls.h"
#include "service/callers/receive_slots.h"
#include "service/callers/unread_replies.h"
#include "service/calls/call_event.h"
#include "service/calls/call_work.h"
#include "service/calls/raw_methods.h"

namespace maskd::service {

// What all unary calls of a server share.
struct UnaryHost {
  // Calls that are open at once: a thousand callers may wait for one compile.
  static constexpr int kMostOpen = 1'280;

  // Who a call's caller is, and whether it may call.
  std::function<absl::StatusOr<Caller>(const grpc::ServerContextBase& context)> admit;
  // Told of each error that ends a call.
  std::function<void(const absl::Status& refused)> count;
  // Called behind a large message on the thread that read it, unless it is null.
  std::function<void()> forget;
  OpenCalls places{kMostOpen};
  ReceiveSlots slots;
  UnreadReplies unread;
  CallThreads threads;
  RawMethods methods = {};
  std::vector<CallMethod> works = {};  // by the methods' numbers
  memory::Account received = {};
  std::atomic<int> running = 0;  // being served, until they are answered
  std::atomic<int> open = 0;     // that have come and not gone
  std::unique_ptr<grpc::CompletionQueue> events = nullptr;
};

// A call of one of the methods.
class UnaryCall final : public CallView, public std::enable_shared_from_this<UnaryCall> {
 public:
  // Asks for the next call of `method`; another one is asked for when it comes. `*live` counts
  // those that wait by `queue`, and is changed on its thread alone.
  static void Accept(UnaryHost* host, int method, grpc::ServerCompletionQueue* queue, int* live);

  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  [[nodiscard]] const Caller& caller() const override { return caller_; }
  absl::Status CountReply(std::int64_t bytes) override;

 private:
  enum Kind : std::uint8_t {
    kAccepted,  // by the stream's queue
    kBegun,     // the same, passed on
    kDone,      // the call is over, however it ended
    kRead,
    kUnread,  // a while after a read that failed
    kWritten,
    kFinished,
    kKindCount
  };
  class Operation final : public CallEvent {
   public:
    // Which of the call's operations this is.
    void Is(UnaryCall* call, Kind kind) {
      call_ = call;
      kind_ = kind;
    }
    void Complete(bool ok) override { call_->Handle(kind_, ok); }
    // As a queue is to know it.
    CallEvent* tag() { return this; }

   private:
    UnaryCall* call_ = nullptr;
    Kind kind_ = kKindCount;
  };
  // Who may go on with the work.
  enum class Stage : std::uint8_t {
    kWorking,  // whoever does
    kWaiting,  // who is first: its compile has ended, or its caller has left
  };

  UnaryCall(UnaryHost* host, int method, grpc::ServerCompletionQueue* queue, int* live);
  ~UnaryCall() = default;

  void Handle(Kind kind, bool ok);
  void Accepted(bool ok);
  void Begin();
  absl::Status Admit();
  void Receive(absl::StatusOr<ReceiveSlots::Slot> slot);
  void TakeMessage(bool ok);
  void OnCallThread(void (UnaryCall::*step)());
  // On a call thread; what is short also on the events' thread, where no call thread works: to wake
  // one takes longer.
  void Work();
  void WorkHere();
  void Answer();
  // Reads the message. True: the call waits, and is somebody else's. Else the error that ends it.
  bool BeginWork(absl::Status* begun);
  // Has a call thread answer, if the call waits; else whoever works sees that it need not wait.
  void GoOn();
  // Waits for `ticket`; false: no longer.
  bool Wait(cache::Ticket* ticket);
  [[nodiscard]] absl::Status WhyLeft() const;
  // Ends the call: with its reply, where the status is OK. Once.
  void End(const absl::Status& status);
  [[nodiscard]] CallEvent* TagOf(Kind kind) { return operations_[kind].tag(); }
  void LetGoIfOver();

  UnaryHost* const host_;
  const int method_;
  grpc::ServerCompletionQueue* const queue_;
  int* const live_;
  std::shared_ptr<UnaryCall> self_;  // until its last operation has ended

  grpc::ServerContext context_;
  RawCall call_{&context_};
  std::array<Operation, kKindCount> operations_;
  grpc::Alarm passed_on_;
  grpc::Alarm unread_;

  Caller caller_;
  std::chrono::system_clock::time_point came_;
  std::optional<OpenCalls::Place> place_;   // until it is over
  std::optional<ReceiveSlots::Slot> slot_;  // until its message is read
  std::optional<memory::Charge> received_;
  std::unique_ptr<CallWork> work_;
  grpc::ByteBuffer message_;  // that came, then the reply
  bool has_come_ = false;     // a client has called
  bool has_counted_ = false;  // its reply
  bool is_done_ = false;      // on the events' thread alone, as the next
  bool is_finished_ = false;
  std::atomic<bool> has_left_ = false;

  Mutex mutex_;
  Stage stage_ ABSL_GUARDED_BY(mutex_) = Stage::kWorking;
  bool is_to_go_on_ ABSL_GUARDED_BY(mutex_) = false;  // it need not wait
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_UNARY_CALL_H_
