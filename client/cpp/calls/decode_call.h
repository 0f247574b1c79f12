// One Decode call and its completion queue, polled by whoever waits. For this library's own files.
//
// Wire     raw buffers both ways.
// Waiting  for a message that is due the thread first looks again and again, for as long as it was
//          told to: a thread that sleeps is woken some 10 us late.
// Order    at most one write and one read are pending at a time, as gRPC demands. A read is always
//          pending until the stream ends, so replies are received while a write is waited for.
// Bounds   the server may answer each message once and say once that it goes. One that sends more
//          is cancelled: INTERNAL. So what waits to be read is bounded.
// End      when a read or a write fails, or a write does not leave in time, the call is finished
//          and its status kept.
// Threads  as StepCall; it starts one, which answers the server's pings.
#ifndef MASKD_CLIENT_CPP_CALLS_DECODE_CALL_H_
#define MASKD_CLIENT_CPP_CALLS_DECODE_CALL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/ping_answers.h"
#include "client/cpp/calls/step_call.h"
#include "maskd/v1/mask_service.pb.h"
#include "ring/yielding.h"

namespace maskd::client {

// The gRPC way of a StepCall; made for each stream.
class DecodeCall : public StepCall {
 public:
  // Where `sees_pings` is false the server sends none, and the channel's state is never asked for.
  DecodeCall(std::shared_ptr<grpc::Channel> channel, bool sees_pings);
  // Cancels the call if it has not ended, and waits until gRPC has let go of it.
  ~DecodeCall() override;
  DecodeCall(const DecodeCall&) = delete;
  DecodeCall& operator=(const DecodeCall&) = delete;

  // Starts the call. DEADLINE_EXCEEDED, after which it may be said again, or the status it ended
  // with.
  absl::Status Start(SteadyTime deadline);

  // As StepCall says; whoever waits in them polls the completion queue.
  absl::Status Write(const v1::DecodeRequest& message, std::size_t byte_size,
                     SteadyTime deadline) override;
  absl::Status Read(grpc::ByteBuffer& message, SteadyTime deadline,
                    SteadyTime awake_until) override;
  absl::StatusOr<bool> ReadUntilInterrupted(grpc::ByteBuffer& message) override;
  void Interrupt() override;
  absl::Status Finish(SteadyTime deadline) override;

 private:
  static constexpr std::uint64_t kMostNotices = 1;  // it goes away
  // What a completion is of.
  enum Tag : std::uint8_t { kStart, kWrite, kRead, kWritesDone, kFinish, kInterrupt, kTagCount };

  // Handles one completion, or gives DEADLINE_EXCEEDED.
  absl::Status Poll(SteadyTime deadline);
  // Handles completions until a message has arrived or the call has ended, for so long at most.
  void PollAwake(absl::Duration longest);
  // Polls until `done()`; the status the call ended with when it ends before.
  absl::Status PollUntil(absl::FunctionRef<bool()> done, SteadyTime deadline);
  void Complete(Tag tag, bool ok);
  // Ends the call, as a write does not leave in time: DEADLINE_EXCEEDED from now on.
  absl::Status GiveUp();
  // Counts a completion that is to come and gives its tag.
  void* Expect(Tag tag);
  void StartRead();
  void KeepArrived();
  void TakeArrived(grpc::ByteBuffer& message);
  // Whether the server has sent what nobody asked for.
  [[nodiscard]] bool is_flooded() const { return received_ > sent_ + kMostNotices; }
  // Asks for the final status; its arrival sets ended_.
  void StartFinish();

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;

  ring::Yielding yielding_;
  std::array<char, kTagCount> tags_{};  // gRPC knows a tag by its place here
  int pending_ = 0;                     // completions to come
  bool connected_ = false;
  bool writing_ = false;
  bool half_closed_ = false;
  grpc::Alarm alarm_;                  // of Interrupt(); its completion is not counted
  std::atomic<bool> alarmed_ = false;  // that completion is to come
  bool interrupted_ = false;
  grpc::ByteBuffer incoming_;
  std::deque<grpc::ByteBuffer> arrived_;
  std::uint64_t sent_ = 0;      // messages
  std::uint64_t received_ = 0;  // messages
  grpc::Status final_status_;
  std::optional<absl::Status> ended_;  // the final status, once it is here or given up
  std::optional<PingAnswers> ping_answers_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_DECODE_CALL_H_
