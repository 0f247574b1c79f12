// The metadata of a GGUF file, pair by pair, read without trust. What follows it, the tensors, is
// never touched: a file of gigabytes costs what its vocabulary does.
//
// Order    ReadHeader(), then for each of pairs() ReadKey() and one of the value's readers.
// Source   the GGUF specification of the ggml project; versions 2 and 3, least significant byte
//          first.
// Errors   INVALID_ARGUMENT at "byte N"; UNIMPLEMENTED for other versions and byte orders;
//          RESOURCE_EXHAUSTED past kVocabularyLimits.gguf_metadata_bytes or gguf_array_depth. No
//          length is believed before the file is known to be that long.
// Threads  one thread reads one file.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_READER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_READER_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// Streams: it holds one value at a time, never the file.
class GgufReader {
 public:
  static constexpr absl::string_view kMagic = "GGUF";

  // `file` must be seekable, and is read from its start.
  explicit GgufReader(std::istream& file);

  // Magic, version and the number of pairs, which is not believed but counted down.
  absl::Status ReadHeader();
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

  // The next key. Its value is what the readers below read.
  absl::StatusOr<std::string> ReadKey();
  absl::StatusOr<std::string> ReadText();
  // A number of an unsigned type, or of a signed one and not negative, up to 2^63 - 1.
  absl::StatusOr<std::int64_t> ReadWhole();
  // An array of at most `max_count` texts.
  absl::StatusOr<std::vector<std::string>> ReadTexts(std::size_t max_count);
  // An array of at most `max_count` numbers of 32 bits with a sign.
  absl::StatusOr<std::vector<std::int32_t>> ReadInt32s(std::size_t max_count);
  // An array of at most `max_count` floats.
  absl::StatusOr<std::vector<float>> ReadFloats(std::size_t max_count);
  absl::Status SkipValue() { return Skip(type_, 0); }

 private:
  // The numbers of the specification.
  enum class Type : std::uint32_t {
    kUint8 = 0,
    kInt8 = 1,
    kUint16 = 2,
    kInt16 = 3,
    kUint32 = 4,
    kInt32 = 5,
    kFloat32 = 6,
    kBool = 7,
    kString = 8,
    kArray = 9,
    kUint64 = 10,
    kInt64 = 11,
    kFloat64 = 12,
  };

  // The size of a number; 0 for the other types.
  static std::uint64_t BytesOf(Type type);

  // INVALID_ARGUMENT at the current byte, about the value of the current key.
  [[nodiscard]] absl::Status WrongValue(absl::string_view message) const;
  // OK when `count` more bytes are there and within the limit.
  [[nodiscard]] absl::Status Need(std::uint64_t count) const;
  absl::StatusOr<std::string> ReadBytes(std::uint64_t count);
  // A number of `count` bytes, at most 8.
  absl::StatusOr<std::uint64_t> ReadNumber(std::uint64_t count);
  absl::StatusOr<Type> ReadType();
  absl::StatusOr<std::string> ReadString();
  // The count of an array of `element`.
  absl::StatusOr<std::uint64_t> ReadCountOf(Type element, std::size_t max_count,
                                            absl::string_view what);
  absl::Status Skip(Type type, std::int64_t depth);
  absl::Status SkipArray(std::int64_t depth);
  absl::Status SkipBytes(std::uint64_t count);

  std::streambuf& file_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t pairs_ = 0;
  std::string key_;
  Type type_ = Type::kUint8;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_READER_H_
