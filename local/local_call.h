// A stream's steps, answered by the thread that submits them.
//
// Turns    what a step needs is done while it is submitted, for at most kTurn. A step that needs
//          more (a compile, a mask that is new, many rows) goes on on a thread of the engine's, and
//          Read() waits for it: the caller's forward pass has that time.
// Order    one step at a time; those submitted meanwhile wait for that thread.
// Cost     a step of known masks: no thread, no system call.
// Threads  as StepCall.
#ifndef MASKD_LOCAL_LOCAL_CALL_H_
#define MASKD_LOCAL_LOCAL_CALL_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/byte_buffer.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/step_call.h"
#include "grammar_core/base/mutex.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/streams/stream_host.h"
#include "service/streams/stream_terms.h"
#include "service/wire/step_exchange.h"

namespace maskd::local {

// The in-process counterpart of a call over gRPC or shared memory.
class LocalCall final : public client::StepCall {
 public:
  static constexpr std::chrono::microseconds kTurn{200};

  // `host` keeps alive all that it names.
  LocalCall(std::shared_ptr<const service::StreamHost> host, const service::StreamTerms& terms);
  // Cancels the step that runs, if one does, and waits for its thread.
  ~LocalCall() override;

  // Answers the step, or leaves it to a thread of the engine's after kTurn. `deadline` has no
  // effect. Errors: how the stream has ended.
  absl::Status Write(const v1::DecodeRequest& message, std::size_t byte_size,
                     client::SteadyTime deadline) override;
  // The reply to the oldest step without one. Until `awake_until` it gives way to other threads
  // and looks again, then it sleeps. Errors: DEADLINE_EXCEEDED, how the stream has ended.
  absl::Status Read(grpc::ByteBuffer& message, client::SteadyTime deadline,
                    client::SteadyTime awake_until) override;
  // The same, without a deadline, until Interrupt(); then false.
  absl::StatusOr<bool> ReadUntilInterrupted(grpc::ByteBuffer& message) override;
  // From any thread, as long as this lives: ends the call above, that of now or else the next.
  void Interrupt() override;
  // Ends the stream behind the steps that were submitted; those not answered by `deadline` are
  // cancelled. OK when it is called again. Errors: how it had ended before.
  absl::Status Finish(client::SteadyTime deadline) override;

 private:
  // Begins a step within a turn. Whether it was answered, or ended the stream.
  bool AnswerInTurn(absl::string_view step);
  // On a thread: the rest of the step, then those that wait.
  void GoOn();
  // Makes the reply, or the stream's end.
  void Answer();
  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // The next step that waits; nothing: there is none, and the exchange is nobody's.
  std::optional<std::string> NextStep() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes a reply, or gives the stream's end; false: neither is there.
  absl::StatusOr<bool> Take(grpc::ByteBuffer& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const service::StreamHost> host_;
  std::string step_;                // the caller's, its memory used again
  service::StepExchange exchange_;  // whose turn it is: the caller's, or a thread's while busy_
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> has_news_ = false;  // a reply or the end is there

  Mutex mutex_;
  CondVar changed_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;  // a thread answers
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<grpc::ByteBuffer> replies_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // and not ended before
};

}  // namespace maskd::local

#endif  // MASKD_LOCAL_LOCAL_CALL_H_
