#include "grammar_core/tokenizer/formats/wire_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/source_file.h"

namespace maskd {
namespace {

constexpr int kTypeBits = 3;
constexpr std::uint64_t kTypeMask = (1 << kTypeBits) - 1;
constexpr std::uint64_t kMaxFieldNumber = (1 << 29) - 1;
constexpr int kVarintBits = 64;
constexpr int kBitsPerByte = 7;  // of a varint

}  // namespace

absl::StatusOr<WireField> WireReader::Next() {
  const std::size_t start = offset_;
  std::uint64_t tag = 0;
  if (absl::Status read = ReadVarint(&tag); !read.ok()) return read;
  const std::uint64_t number = tag >> kTypeBits;
  if (number == 0 || number > kMaxFieldNumber)
    return InvalidTokenizer(BytePlace(start), absl::StrCat(number, " is not a field number"));
  WireField field;
  field.number = static_cast<std::uint32_t>(number);
  field.type = static_cast<WireField::Type>(tag & kTypeMask);
  absl::Status read = ReadValue(&field);
  return read.ok() ? absl::StatusOr<WireField>(field) : read;
}

absl::Status WireReader::ReadValue(WireField* field) {
  field->offset = offset_;
  std::uint64_t size = 0;
  switch (field->type) {
    case WireField::Type::kVarint:
      return ReadVarint(&field->varint);
    case WireField::Type::kFixed64:
      return ReadBytes(sizeof(std::uint64_t), field);
    case WireField::Type::kFixed32:
      return ReadBytes(sizeof(std::uint32_t), field);
    case WireField::Type::kBytes:
      if (absl::Status read = ReadVarint(&size); !read.ok()) return read;
      return ReadBytes(size, field);
  }
  return InvalidTokenizer(BytePlace(offset_),
                          absl::StrCat("field ", field->number, " has the wire type ",
                                       static_cast<int>(field->type), ", which is not known"));
}

absl::Status WireReader::ReadVarint(std::uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < kVarintBits; shift += kBitsPerByte) {
    const auto at = static_cast<std::size_t>(shift / kBitsPerByte);
    if (at >= rest_.size())
      return InvalidTokenizer(BytePlace(offset_), "the message ends within a number");
    const auto byte = static_cast<unsigned char>(rest_[at]);
    const std::uint64_t bits = byte & 0x7F;
    if ((bits << shift) >> shift != bits) break;
    *value |= bits << shift;
    if (byte < 0x80) {
      Skip(at + 1);
      return absl::OkStatus();
    }
  }
  return InvalidTokenizer(BytePlace(offset_), "a number of more than 64 bits");
}

absl::Status WireReader::ReadBytes(std::uint64_t size, WireField* field) {
  if (size > rest_.size()) {
    return InvalidTokenizer(
        BytePlace(offset_),
        absl::StrCat("a value of ", size, " bytes, and the message has ", rest_.size(), " more"));
  }
  field->offset = offset_;
  field->bytes = rest_.substr(0, static_cast<std::size_t>(size));
  Skip(field->bytes.size());
  return absl::OkStatus();
}

std::string BytePlace(std::uint64_t offset) { return absl::StrCat("byte ", offset); }

}  // namespace maskd
