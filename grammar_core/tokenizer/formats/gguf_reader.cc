// A file is a count of pairs, each a key, a type and a value. The file's size is taken first, and
// every length is held against what is left of it before a byte is read or allocated.
//
// Invariant  offset_ is where the stream stands, and never past the file's end.
// Cost       the bytes of the metadata once; values that nobody wants are read and dropped in
//            blocks.
// Bounds     kVocabularyLimits.gguf_metadata_bytes and gguf_array_depth, which ends the recursion.
// Source     the GGUF specification of the ggml project.
#include "grammar_core/tokenizer/formats/gguf_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <istream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/tokenizer/formats/wire_reader.h"
#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

constexpr std::uint64_t kOldestVersion = 2;
constexpr std::uint64_t kNewestVersion = 3;
constexpr std::uint64_t kMaxKeyBytes = 65535;
constexpr int kByteBits = 8;

// A version whose low half is empty is one of the other byte order.
absl::Status CheckVersion(std::uint64_t version) {
  constexpr std::uint64_t kLowHalf = 0xFFFF;
  const std::string place = BytePlace(GgufReader::kMagic.size());
  if (version >= kOldestVersion && version <= kNewestVersion) return absl::OkStatus();
  return (version & kLowHalf) == 0
             ? UnsupportedAt(place, "a file with the most significant byte first")
             : UnsupportedAt(place, absl::StrCat("version ", version, " of GGUF"));
}

}  // namespace

GgufReader::GgufReader(std::istream& file) : file_(*file.rdbuf()) {
  const std::streamoff end = file_.pubseekoff(0, std::ios::end, std::ios::in);
  size_ = static_cast<std::uint64_t>(std::max<std::streamoff>(end, 0));
  file_.pubseekpos(0, std::ios::in);
}

absl::Status GgufReader::ReadHeader() {
  const absl::StatusOr<std::string> magic = ReadBytes(kMagic.size());
  if (!magic.ok()) return magic.status();
  if (*magic != kMagic)
    return InvalidTokenizer(BytePlace(0), "the file does not begin with \"GGUF\"");
  const absl::StatusOr<std::uint64_t> version = ReadNumber(sizeof(std::uint32_t));
  if (!version.ok()) return version.status();
  if (absl::Status checked = CheckVersion(*version); !checked.ok()) return checked;
  const absl::StatusOr<std::uint64_t> tensors = ReadNumber(sizeof(std::uint64_t));
  const absl::StatusOr<std::uint64_t> pairs = ReadNumber(sizeof(std::uint64_t));
  pairs_ = pairs.ok() ? *pairs : 0;
  return tensors.ok() ? pairs.status() : tensors.status();
}

absl::StatusOr<std::string> GgufReader::ReadKey() {
  const std::uint64_t start = offset_;
  const absl::StatusOr<std::uint64_t> size = ReadNumber(sizeof(std::uint64_t));
  if (!size.ok()) return size.status();
  if (*size == 0 || *size > kMaxKeyBytes)
    return InvalidTokenizer(BytePlace(start), absl::StrCat("a key of ", *size, " bytes"));
  absl::StatusOr<std::string> key = ReadBytes(*size);
  if (!key.ok()) return key;
  key_ = *std::move(key);
  const absl::StatusOr<Type> type = ReadType();
  if (!type.ok()) return type.status();
  type_ = *type;
  return key_;
}

absl::StatusOr<std::string> GgufReader::ReadText() {
  return type_ == Type::kString ? ReadString() : WrongValue("not a text");
}

absl::StatusOr<std::int64_t> GgufReader::ReadWhole() {
  const bool is_signed = type_ == Type::kInt8 || type_ == Type::kInt16 || type_ == Type::kInt32 ||
                         type_ == Type::kInt64;
  const bool is_unsigned = type_ == Type::kUint8 || type_ == Type::kUint16 ||
                           type_ == Type::kUint32 || type_ == Type::kUint64;
  if (!is_signed && !is_unsigned) return WrongValue("not a whole number");
  const std::uint64_t bytes = BytesOf(type_);
  assert(bytes > 0);
  const absl::StatusOr<std::uint64_t> number = ReadNumber(bytes);
  if (!number.ok()) return number.status();
  const bool has_sign_bit = (*number >> (bytes * kByteBits - 1)) != 0;
  if (has_sign_bit && (is_signed || type_ == Type::kUint64))
    return WrongValue(is_signed ? "a negative number" : "a number past 2^63 - 1");
  return static_cast<std::int64_t>(*number);
}

absl::StatusOr<std::vector<std::string>> GgufReader::ReadTexts(std::size_t max_count) {
  const absl::StatusOr<std::uint64_t> count =
      ReadCountOf(Type::kString, max_count, "not an array of texts");
  if (!count.ok()) return count.status();
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < *count; ++i) {
    absl::StatusOr<std::string> text = ReadString();
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  return texts;
}

absl::StatusOr<std::vector<std::int32_t>> GgufReader::ReadInt32s(std::size_t max_count) {
  const absl::StatusOr<std::uint64_t> count =
      ReadCountOf(Type::kInt32, max_count, "not an array of 32-bit numbers with a sign");
  if (!count.ok()) return count.status();
  std::vector<std::int32_t> numbers;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const absl::StatusOr<std::uint64_t> number = ReadNumber(sizeof(std::int32_t));
    if (!number.ok()) return number.status();
    numbers.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(*number)));
  }
  return numbers;
}

absl::StatusOr<std::vector<float>> GgufReader::ReadFloats(std::size_t max_count) {
  const absl::StatusOr<std::uint64_t> count =
      ReadCountOf(Type::kFloat32, max_count, "not an array of 32-bit floats");
  if (!count.ok()) return count.status();
  std::vector<float> numbers;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const absl::StatusOr<std::uint64_t> number = ReadNumber(sizeof(float));
    if (!number.ok()) return number.status();
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(*number)));
  }
  return numbers;
}

std::uint64_t GgufReader::BytesOf(Type type) {
  switch (type) {
    case Type::kUint8:
    case Type::kInt8:
    case Type::kBool:
      return 1;
    case Type::kUint16:
    case Type::kInt16:
      return 2;
    case Type::kUint32:
    case Type::kInt32:
    case Type::kFloat32:
      return 4;
    case Type::kUint64:
    case Type::kInt64:
    case Type::kFloat64:
      return 8;
    case Type::kString:
    case Type::kArray:
      break;
  }
  return 0;
}

absl::Status GgufReader::WrongValue(absl::string_view message) const {
  return InvalidTokenizer(BytePlace(offset_),
                          absl::StrCat(Shortened(absl::CHexEscape(key_)), ": ", message));
}

absl::Status GgufReader::Need(std::uint64_t count) const {
  assert(offset_ <= size_);
  if (count > size_ - offset_) {
    return InvalidTokenizer(
        BytePlace(offset_),
        absl::StrCat("a value of ", count, " bytes, and the file has ", size_ - offset_, " more"));
  }
  const auto limit = static_cast<std::uint64_t>(kVocabularyLimits.gguf_metadata_bytes);
  return offset_ + count <= limit ? absl::OkStatus()
                                  : LimitExceeded(BytePlace(offset_), "gguf_metadata_bytes",
                                                  kVocabularyLimits.gguf_metadata_bytes,
                                                  static_cast<std::int64_t>(offset_ + count));
}

absl::StatusOr<std::string> GgufReader::ReadBytes(std::uint64_t count) {
  if (absl::Status there = Need(count); !there.ok()) return there;
  std::string bytes(static_cast<std::size_t>(count), '\0');
  const auto wanted = static_cast<std::streamsize>(count);
  if (file_.sgetn(bytes.data(), wanted) != wanted) {
    return ErrorAt(absl::StatusCode::kUnavailable, BytePlace(offset_), "FILE_CHANGED",
                   "the file became shorter while it was read");
  }
  offset_ += count;
  return bytes;
}

absl::StatusOr<std::uint64_t> GgufReader::ReadNumber(std::uint64_t count) {
  assert(count <= sizeof(std::uint64_t));
  const absl::StatusOr<std::string> bytes = ReadBytes(count);
  if (!bytes.ok()) return bytes.status();
  std::uint64_t number = 0;
  for (std::size_t i = bytes->size(); i-- > 0;)
    number = number << kByteBits | static_cast<unsigned char>((*bytes)[i]);
  return number;
}

absl::StatusOr<GgufReader::Type> GgufReader::ReadType() {
  const std::uint64_t start = offset_;
  const absl::StatusOr<std::uint64_t> type = ReadNumber(sizeof(std::uint32_t));
  if (!type.ok()) return type.status();
  if (*type > static_cast<std::uint64_t>(Type::kFloat64))
    return InvalidTokenizer(BytePlace(start), absl::StrCat(*type, " is no type of a value"));
  return static_cast<Type>(*type);
}

absl::StatusOr<std::string> GgufReader::ReadString() {
  const absl::StatusOr<std::uint64_t> size = ReadNumber(sizeof(std::uint64_t));
  return size.ok() ? ReadBytes(*size) : size.status();
}

absl::StatusOr<std::uint64_t> GgufReader::ReadCountOf(Type element, std::size_t max_count,
                                                      absl::string_view what) {
  if (type_ != Type::kArray) return WrongValue(what);
  const absl::StatusOr<Type> type = ReadType();
  if (!type.ok()) return type.status();
  if (*type != element) return WrongValue(what);
  const absl::StatusOr<std::uint64_t> count = ReadNumber(sizeof(std::uint64_t));
  if (count.ok() && *count > max_count)
    return WrongValue(absl::StrCat(*count, " elements are more than ", max_count));
  return count;
}

absl::Status GgufReader::Skip(Type type, std::int64_t depth) {
  if (type == Type::kArray) return SkipArray(depth + 1);
  if (type != Type::kString) return SkipBytes(BytesOf(type));
  const absl::StatusOr<std::uint64_t> size = ReadNumber(sizeof(std::uint64_t));
  return size.ok() ? SkipBytes(*size) : size.status();
}

// Recursion is bounded by gguf_array_depth.
absl::Status GgufReader::SkipArray(std::int64_t depth) {
  assert(depth > 0);
  if (depth > kVocabularyLimits.gguf_array_depth) {
    return LimitExceeded(BytePlace(offset_), "gguf_array_depth", kVocabularyLimits.gguf_array_depth,
                         depth);
  }
  const absl::StatusOr<Type> type = ReadType();
  if (!type.ok()) return type.status();
  const absl::StatusOr<std::uint64_t> count = ReadNumber(sizeof(std::uint64_t));
  if (!count.ok()) return count.status();
  if (const std::uint64_t bytes = BytesOf(*type); bytes > 0) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    return SkipBytes(*count > kMax / bytes ? kMax : *count * bytes);
  }
  absl::Status skipped = absl::OkStatus();
  for (std::uint64_t i = 0; skipped.ok() && i < *count; ++i) skipped = Skip(*type, depth);
  return skipped;
}

absl::Status GgufReader::SkipBytes(std::uint64_t count) {
  if (absl::Status there = Need(count); !there.ok()) return there;
  // Reading on is faster than seeking: a seek drops what is buffered.
  std::array<char, 4096> dropped;
  for (std::uint64_t left = count; left > 0;) {
    const auto part = static_cast<std::streamsize>(std::min<std::uint64_t>(left, dropped.size()));
    if (file_.sgetn(dropped.data(), part) != part) {
      return ErrorAt(absl::StatusCode::kUnavailable, BytePlace(offset_), "FILE_CHANGED",
                     "the file became shorter while it was read");
    }
    left -= static_cast<std::uint64_t>(part);
  }
  offset_ += count;
  return absl::OkStatus();
}

}  // namespace maskd
