// The bytes of a stream's messages, which may be many megabytes: a copy offers the core meanwhile.
//
// Threads  plain functions.
// Memory   a slice has its bytes for as long as it or a copy of it lives.
#ifndef MASKD_SERVICE_CALLS_MESSAGE_BYTES_H_
#define MASKD_SERVICE_CALLS_MESSAGE_BYTES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

namespace maskd::service {

// A message's bytes, in one piece. Errors: INTERNAL (it cannot be read).
absl::StatusOr<grpc::Slice> BytesOf(const grpc::ByteBuffer& message);

// As long as `slice` lives.
inline absl::string_view ViewOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A message of these bytes.
grpc::ByteBuffer BufferOf(absl::string_view bytes);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_MESSAGE_BYTES_H_
