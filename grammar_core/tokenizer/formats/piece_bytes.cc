#include "grammar_core/tokenizer/formats/piece_bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr int kAlphabetEnd = 256 + 68;  // 68 bytes have no printable character of their own

// The byte-level alphabet: code point -> byte, -1 where none. A byte that is a printable character
// of Latin-1 (and no soft hyphen) stands for itself; the others, ascending, are U+0100 and on.
std::array<int, kAlphabetEnd> MakeAlphabet() {
  std::array<int, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    bytes[is_itself ? byte : next++] = byte;
  }
  return bytes;
}

}  // namespace

std::string FromMetaspace(absl::string_view piece) {
  return absl::StrReplaceAll(piece, {{kMetaspace, " "}});
}

std::optional<std::string> FromByteFallback(absl::string_view piece) {
  constexpr std::size_t kSize = 6;
  if (piece.size() != kSize || piece.substr(0, 3) != "<0x" || piece.back() != '>' ||
      !absl::ascii_isxdigit(static_cast<unsigned char>(piece[3])) ||
      !absl::ascii_isxdigit(static_cast<unsigned char>(piece[4]))) {
    return std::nullopt;
  }
  return absl::HexStringToBytes(piece.substr(3, 2));
}

std::optional<std::string> FromByteLevel(absl::string_view piece) {
  static const std::array<int, kAlphabetEnd> alphabet = MakeAlphabet();
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    const std::optional<std::uint32_t> code_point = DecodeUtf8(piece, &at);
    if (!code_point.has_value() || *code_point >= kAlphabetEnd || alphabet[*code_point] < 0)
      return std::nullopt;
    bytes.push_back(static_cast<char>(alphabet[*code_point]));
  }
  return bytes;
}

std::optional<std::string> FromBase64(absl::string_view base64) {
  std::string bytes;
  // Abseil also takes base64 with white space or without padding: neither comes back the same.
  if (base64.empty() || !absl::Base64Unescape(base64, &bytes) ||
      absl::Base64Escape(bytes) != base64) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace maskd
