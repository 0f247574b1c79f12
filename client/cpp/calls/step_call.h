// What carries a stream's steps to the server and its messages back, once both have said hello: a
// DecodeCall or a MemoryCall. For this library's own files.
//
// Messages  arrive as the bytes of a DecodeResponse, which live until the next call.
// Threads   one thread at a time; Interrupt() from any.
#ifndef MASKD_CLIENT_CPP_CALLS_STEP_CALL_H_
#define MASKD_CLIENT_CPP_CALLS_STEP_CALL_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"

#include "client/cpp/base/steady_time.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// Made for each stream; the hello and the welcome were exchanged before.
class StepCall {
 public:
  virtual ~StepCall() = default;

  // Sends `message`, after the one before is on its way. The message is serialised when this
  // returns. `byte_size` is what its ByteSizeLong() has just said. DEADLINE_EXCEEDED where the one
  // before does not leave: it is the call's end.
  virtual absl::Status Write(const v1::DecodeRequest& message, std::size_t byte_size,
                             SteadyTime deadline) = 0;

  // Reads the next message, without sleeping until `awake_until`. DEADLINE_EXCEEDED, or the status
  // the call ended with; CANCELLED when the server ended it with OK.
  virtual absl::Status Read(grpc::ByteBuffer& message, SteadyTime deadline,
                            SteadyTime awake_until) = 0;

  // The same without a deadline, until Interrupt(): then false, and nothing was read.
  virtual absl::StatusOr<bool> ReadUntilInterrupted(grpc::ByteBuffer& message) = 0;
  // Ends ReadUntilInterrupted(), that of now or else the next one. From any thread.
  virtual void Interrupt() = 0;

  // Half-closes, drops what still arrives and gives the final status.
  virtual absl::Status Finish(SteadyTime deadline) = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_STEP_CALL_H_
