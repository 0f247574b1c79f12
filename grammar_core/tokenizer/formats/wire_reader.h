// A message of protocol buffers, field by field, read without trust.
//
// Shape    a field is its number and its value; what a number means is the caller's to know. A
//          value that is a message is read by another WireReader.
// Source   the encoding guide of protocol buffers. Groups, which it calls deprecated, are refused.
// Errors   INVALID_ARGUMENT at "byte N", N counted from the start of the file.
// Threads  a plain value that reads the caller's bytes.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_WIRE_READER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_WIRE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// A field of one message. What it views must outlive it.
struct WireField {
  // Wire types, with the numbers that the encoding gives them.
  enum class Type { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  std::uint32_t number = 0;
  Type type = Type::kVarint;
  std::uint64_t varint = 0;  // of kVarint
  absl::string_view bytes;   // the value of the other types
  std::size_t offset = 0;    // of the value, in the file
};

// Reads from front to back, each field once.
class WireReader {
 public:
  // `message` begins at byte `offset` of the file.
  explicit WireReader(absl::string_view message, std::size_t offset = 0)
      : rest_(message), offset_(offset) {}

  // Whether no field is left.
  [[nodiscard]] bool done() const { return rest_.empty(); }

  // The next field. Requires !done().
  absl::StatusOr<WireField> Next();

 private:
  absl::Status ReadValue(WireField* field);
  absl::Status ReadVarint(std::uint64_t* value);
  absl::Status ReadBytes(std::uint64_t size, WireField* field);
  void Skip(std::size_t size) {
    rest_.remove_prefix(size);
    offset_ += size;
  }

  absl::string_view rest_;
  std::size_t offset_;
};

// "byte N", the place of a binary file's errors.
std::string BytePlace(std::uint64_t offset);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_WIRE_READER_H_
