// Writes GGUF files, value by value.
#ifndef MASKD_TESTS_TOKENIZER_GGUF_BYTES_H_
#define MASKD_TESTS_TOKENIZER_GGUF_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace maskd {

// Types of values, by the specification's numbers.
enum ValueType {
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
  kFloat64 = 12
};

inline std::string Number(std::uint64_t value, int bytes) {
  std::string written;
  for (int i = 0; i < bytes; ++i) written.push_back(static_cast<char>(value >> (8 * i)));
  return written;
}

inline std::string Text(absl::string_view text) {
  return absl::StrCat(Number(text.size(), 8), text);
}

inline std::string Pair(absl::string_view key, int type, absl::string_view value) {
  return absl::StrCat(Text(key), Number(static_cast<std::uint64_t>(type), 4), value);
}

inline std::string ArrayOf(int type, const std::vector<std::string>& elements) {
  std::string written = Number(static_cast<std::uint64_t>(type), 4) + Number(elements.size(), 8);
  for (const std::string& element : elements) written += element;
  return written;
}

inline std::string File(const std::vector<std::string>& pairs) {
  std::string written = "GGUF" + Number(3, 4) + Number(0, 8) + Number(pairs.size(), 8);
  for (const std::string& pair : pairs) written += pair;
  return written;
}

}  // namespace maskd

#endif  // MASKD_TESTS_TOKENIZER_GGUF_BYTES_H_
