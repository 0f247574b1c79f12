// The bytes of a message, read from the begin to the end: what protobuf's CodedInputStream does,
// for bytes that lie in one piece, and inline.
//
// Limit    a message within the message ends at a limit; nothing is read past it.
// Errors   false: the bytes end too early or are no such value. What is read then means nothing.
// Cost     a varint of one byte: a comparison and a load.
// Threads  a plain value; the bytes must outlive it.
// Source   protobuf.dev/programming-guides/encoding; a varint has at most ten bytes, and what does
//          not fit into its value is dropped.
#ifndef MASKD_PROTOS_WIRE_INPUT_H_
#define MASKD_PROTOS_WIRE_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"

namespace maskd {

// A place in the bytes of a message.
class WireInput {
 public:
  using Limit = const char*;

  explicit WireInput(absl::string_view bytes)
      : at_(bytes.data()), limit_(bytes.data() + bytes.size()) {}

  // Bytes up to the limit.
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(limit_ - at_); }
  [[nodiscard]] bool at_limit() const { return at_ == limit_; }
  // The same bytes, which stay unread.
  [[nodiscard]] absl::string_view rest() const { return {at_, left()}; }

  // Ends the input `size` bytes from here, of which there are as many. What it gives is put back by
  // PopLimit(), once that part is read.
  [[nodiscard]] Limit PushLimit(std::size_t size) {
    const Limit before = limit_;
    limit_ = at_ + size;
    return before;
  }
  void PopLimit(Limit before) { limit_ = before; }

  bool Skip(std::size_t size) {
    if (left() < size) return false;
    at_ += size;
    return true;
  }

  // What begins a field. 0: no field does.
  std::uint32_t ReadTag() {
    std::uint32_t tag = 0;
    return ReadVarint32(&tag) ? tag : 0;
  }
  bool ReadVarint32(std::uint32_t* value) {
    std::uint64_t whole = 0;
    if (!ReadVarint64(&whole)) return false;
    *value = static_cast<std::uint32_t>(whole);
    return true;
  }
  bool ReadVarint64(std::uint64_t* value) {
    constexpr int kBits = 7;
    constexpr int kMostBits = 10 * kBits;
    std::uint64_t sum = 0;
    const char* at = at_;
    for (int shift = 0; shift < kMostBits; shift += kBits) {
      if (at == limit_) return false;
      const auto byte = static_cast<unsigned char>(*at++);
      sum |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        at_ = at;
        *value = sum;
        return true;
      }
    }
    return false;
  }
  // The size of what follows; false also where there are fewer bytes.
  bool ReadSize(std::size_t* size) {
    std::uint64_t value = 0;
    if (!ReadVarint64(&value) || value > std::numeric_limits<std::int32_t>::max()) return false;
    *size = static_cast<std::size_t>(value);
    return *size <= left();
  }
  // A size and as many bytes, which are viewed where they are.
  bool ReadBytes(absl::string_view* bytes) {
    std::size_t size = 0;
    if (!ReadSize(&size)) return false;
    *bytes = {at_, size};
    at_ += size;
    return true;
  }
  // Four bytes, the lowest first.
  bool ReadFixed32(std::uint32_t* value) {
    if (left() < sizeof(*value)) return false;
    *value = 0;
    for (std::size_t i = 0; i < sizeof(*value); ++i)
      *value |= static_cast<std::uint32_t>(static_cast<unsigned char>(at_[i])) << (8 * i);
    at_ += sizeof(*value);
    return true;
  }

 private:
  const char* at_;
  Limit limit_;
};

}  // namespace maskd

#endif  // MASKD_PROTOS_WIRE_INPUT_H_
