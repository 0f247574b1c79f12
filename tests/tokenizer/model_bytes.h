// Writes SentencePiece models, field by field.
#ifndef MASKD_TESTS_TOKENIZER_MODEL_BYTES_H_
#define MASKD_TESTS_TOKENIZER_MODEL_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace maskd {

// SentencePiece.Type.
enum SentencePieceType {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string VarintField(int number, std::uint64_t value) {
  return Varint(static_cast<std::uint64_t>(number) << 3) + Varint(value);
}

inline std::string BytesField(int number, absl::string_view value) {
  return absl::StrCat(Varint(static_cast<std::uint64_t>(number) << 3 | 2), Varint(value.size()),
                      value);
}

inline const std::string kScore("\x15\0\0\x80\xBF", 5);  // field 2, -1 as a float

inline std::string Piece(absl::string_view text, int type = kNormal) {
  return BytesField(1, BytesField(1, text) + kScore + VarintField(3, type));
}

// <unk>, <s> and </s>, as nearly every model begins.
inline std::string Head() {
  return Piece("<unk>", kUnknown) + Piece("<s>", kControl) + Piece("</s>", kControl);
}

}  // namespace maskd

#endif  // MASKD_TESTS_TOKENIZER_MODEL_BYTES_H_
