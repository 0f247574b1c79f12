// A stream's steps and replies through shared memory, beside the Decode call that it was agreed on,
// which tells of the server's going away and of the end. For this library's own files.
//
// Threads  as StepCall. It starts one to wait on the Decode call, so that a server's death is
//          noticed at once.
// Errors   INTERNAL: the server has written what cannot be, or more replies than it was sent steps.
#ifndef MASKD_CLIENT_CPP_CALLS_MEMORY_CALL_H_
#define MASKD_CLIENT_CPP_CALLS_MEMORY_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/decode_call.h"
#include "client/cpp/calls/step_call.h"
#include "maskd/v1/mask_service.pb.h"
#include "ring/channel.h"
#include "ring/shared_memory.h"

namespace maskd::client {

// Fetches the memory that a server at `address` has offered. Errors: UNAVAILABLE (it cannot be had:
// the stream is one over gRPC), others (the server may wait for steps in it).
absl::StatusOr<ring::SharedMemory> FetchMemory(const std::string& address,
                                               const v1::SharedMemory& offer, SteadyTime deadline);

// A StepCall through two rings; the Decode call stays open beside it, without steps.
class MemoryCall : public StepCall {
 public:
  // The server is done with the call's hello and its memory has been fetched.
  MemoryCall(std::unique_ptr<DecodeCall> call, ring::SharedMemory memory,
             std::size_t max_message_bytes);
  // Cancels the call if it has not ended.
  ~MemoryCall() override;

  // As StepCall says. Waiting for a reply, the thread looks at the ring before it sleeps.
  absl::Status Write(const v1::DecodeRequest& message, std::size_t byte_size,
                     SteadyTime deadline) override;
  absl::Status Read(grpc::ByteBuffer& message, SteadyTime deadline,
                    SteadyTime awake_until) override;
  absl::StatusOr<bool> ReadUntilInterrupted(grpc::ByteBuffer& message) override;
  void Interrupt() override;
  absl::Status Finish(SteadyTime deadline) override;

 private:
  // What the thread does: waits on the call until it ends or is to be finished.
  void Watch();
  // Finishes the call if that was asked for. What a caller who still wanted something is told.
  absl::Status FinishIfAsked();

  // Takes a message, if there is one: a notice, one kept, one of the ring.
  absl::StatusOr<bool> Take(grpc::ByteBuffer& message);
  absl::StatusOr<bool> TakeOfRing(grpc::ByteBuffer& message);
  absl::StatusOr<std::optional<absl::string_view>> NextOfRing();
  // Keeps what is in the ring, so that the server has room.
  absl::Status KeepArrived();
  // OK until the call has ended and the ring has nothing more.
  absl::Status CheckOpen();
  absl::Status Sleep(std::uint32_t reasons, SteadyTime deadline);
  // Keeps an error of the ring, which is final.
  absl::Status Break(const absl::Status& status);

  const std::unique_ptr<DecodeCall> call_;  // the thread's, until that has ended
  ring::Channel channel_;
  std::string outgoing_;
  std::deque<grpc::ByteBuffer> kept_;
  std::uint64_t unanswered_ = 0;  // steps written less replies that have come
  absl::Status broken_;
  std::atomic<bool> interrupted_ = false;

  std::atomic<bool> has_news_ = false;  // of the following
  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> notices_;
  std::optional<absl::Status> ended_;    // as a caller who wanted something is told
  std::optional<SteadyTime> finish_by_;  // the call shall be finished
  std::atomic<bool> closing_ = false;    // the thread is to end
  std::thread watcher_;                  // last: it uses all of the above
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_MEMORY_CALL_H_
