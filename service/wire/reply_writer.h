// A step's reply as the bytes of its DecodeResponse, without building the message: byte for byte
// what protobuf makes of one with response_writer's rows.
//
// Cost     a row that is answered as most are: some tens of bytes written, nothing allocated. Rows
//          with an error or forced tokens, and snapshots, go through their messages.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_WIRE_REPLY_WRITER_H_
#define MASKD_SERVICE_WIRE_REPLY_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "service/sequences/stream_types.h"

namespace maskd::service {

// Writes from the end to the front, so that a message's length is known when its header is due.
class BackwardWriter {
 public:
  // Forgets what was written; the memory is kept.
  void Clear() { begin_ = buffer_.size(); }
  // Clears it and keeps no more memory than for `bytes`.
  void Trim(std::size_t bytes);
  [[nodiscard]] std::size_t size() const { return buffer_.size() - begin_; }
  // What was written, until the next call.
  [[nodiscard]] absl::string_view bytes() const {
    return {reinterpret_cast<const char*>(buffer_.data()) + begin_, size()};
  }

  // Room in front of what was written, to be filled in.
  std::uint8_t* Prepend(std::size_t count) {
    if (begin_ < count) [[unlikely]]
      Grow(count);
    begin_ -= count;
    return buffer_.data() + begin_;
  }
  void Varint(std::uint64_t value) {
    if (value < 0x80) [[likely]]
      *Prepend(1) = static_cast<std::uint8_t>(value);
    else
      LongVarint(value);
  }
  void Bytes(absl::string_view bytes);
  // A field's tag and value, or its header: the tag and the length of what was written since the
  // size was `size_before`.
  void VarintField(int number, std::uint64_t value) {
    Varint(value);
    Tag(number, kVarintType);
  }
  void FloatField(int number, float value);
  void BytesField(int number, absl::string_view bytes);
  void Header(int number, std::size_t size_before) {
    Varint(size() - size_before);
    Tag(number, kLengthType);
  }

 private:
  // Wire types of protobuf's encoding (protobuf.dev/programming-guides/encoding).
  enum WireType : std::uint8_t { kVarintType = 0, kLengthType = 2, kFixed32Type = 5 };

  void Tag(int number, WireType type) { Varint(static_cast<std::uint64_t>(number) << 3 | type); }
  void LongVarint(std::uint64_t value);
  // Makes room for `count` bytes more in front.
  void Grow(std::size_t count);

  std::vector<std::uint8_t> buffer_;  // in use from begin_ on
  std::size_t begin_ = 0;
};

// Writes the replies of one stream, one after the other.
class ReplyWriter {
 public:
  // The bytes live until the next call.
  absl::string_view Write(const StepResult& result, int mask_words);

  // Ends the life of the bytes: the memory of large ones is kept for no other reply.
  void Release() { out_.Trim(kKeptBytes); }

 private:
  static constexpr std::size_t kKeptBytes = 4 << 20;

  void WriteSnapshot(const RowSnapshot& snapshot);
  void WriteRow(const RowResult& row);
  void WriteFields(const RowResult& row);
  void WritePosition(const Position& position);
  void WriteTuning(const Position& position);
  void WriteMask(const TokenMask& mask, const MaskForm& form);
  void WriteDense(const TokenMask& mask);
  void WriteIds(int number, const std::vector<TokenId>& ids);
  void WriteDelta(const MaskDelta& delta);

  BackwardWriter out_;
  std::string message_;  // of a part that goes through its message
  int mask_words_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_REPLY_WRITER_H_
