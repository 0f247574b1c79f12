// What a server says after its welcome, read from the bytes: a step's reply straight into a
// StepResult, without its message. For this library's own files.
//
// Order    every reply of a stream passes through its one reader, in order (mask_reader.h).
// Cost     a row that is answered as most are: some tens of bytes read, nothing allocated.
// Errors   INTERNAL: what is no message, or not as the protocol says.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_STEPS_REPLY_READER_H_
#define MASKD_CLIENT_CPP_STEPS_REPLY_READER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "grpcpp/support/byte_buffer.h"

#include "client/cpp/masks/mask_reader.h"
#include "client/cpp/steps/step_result.h"
#include "maskd/v1/mask_service.pb.h"
#include "protos/wire_fields.h"

namespace maskd::client {

// One message of the server.
struct ServerMessage {
  StepResult result;                  // its memory is used again
  bool has_step = false;              // `result` is a step's
  std::optional<v1::GoAway> go_away;  // or this was said
};

// One for each stream.
class ReplyReader {
 public:
  // Its sizes are those of the welcome.
  explicit ReplyReader(const v1::Welcome& welcome) : masks_(welcome) {}

  // Reads a DecodeResponse.
  absl::Status Read(const grpc::ByteBuffer& bytes, ServerMessage& message);
  absl::Status Read(absl::string_view bytes, ServerMessage& message);

 private:
  // These say false for what is no message, and whenever status_ is an error.
  bool ReadStep(WireInput& in, StepResult& result);
  bool ReadRow(WireInput& in, StepResult& result);
  bool ReadRowField(WireInput& in, std::uint32_t tag, StepResult& result, RowResult& row);
  bool ReadAnswer(WireInput& in, StepResult& result, RowResult& row);
  bool ReadMask(WireInput& in, StepResult& result, RowResult& row);
  static bool ReadError(WireInput& in, StepResult& result, RowResult& row);

  MaskReader masks_;
  absl::Status status_;  // of the message that is read
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STEPS_REPLY_READER_H_
