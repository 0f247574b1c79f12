#include "service/calls/message_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"

#include "cpu/thread_priority.h"

namespace maskd::service {
namespace {

// Bytes that are copied into memory that was not touched yet in the time of a unit of work.
constexpr std::size_t kCopiedBytesAUnit = 512;

// Behind `at` bytes of `whole`, which has room and which nobody reads yet.
void CopyBytes(absl::string_view from, const grpc::Slice& whole, std::size_t at = 0) {
  constexpr std::size_t kPiece = 128 * kCopiedBytesAUnit;
  auto* to = const_cast<std::uint8_t*>(whole.begin()) + at;
  for (; !from.empty(); from.remove_prefix(std::min(from.size(), kPiece))) {
    const absl::string_view piece = from.substr(0, kPiece);
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
    OfferCoreAfter(static_cast<std::int64_t>(piece.size() / kCopiedBytesAUnit));
  }
}

}  // namespace

absl::StatusOr<grpc::Slice> BytesOf(const grpc::ByteBuffer& message) {
  grpc::Slice whole;
  if (message.TrySingleSlice(&whole).ok()) return whole;
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return absl::InternalError("a message cannot be read");
  whole = grpc::Slice(message.Length());
  std::size_t at = 0;
  for (const grpc::Slice& slice : slices) {
    CopyBytes(ViewOf(slice), whole, at);
    at += slice.size();
  }
  return whole;
}

grpc::ByteBuffer BufferOf(absl::string_view bytes) {
  const grpc::Slice slice(bytes.size());
  CopyBytes(bytes, slice);
  return {&slice, 1};
}

}  // namespace maskd::service
