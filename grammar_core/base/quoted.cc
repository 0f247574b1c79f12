#include "grammar_core/base/quoted.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"

namespace maskd {

std::string Quoted(absl::string_view bytes) {
  std::string text = "\"";
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t start = at;
    const auto code_point = DecodeUtf8(bytes, &at);
    const bool printable = code_point.has_value() && *code_point >= 0x20 && *code_point != 0x7F;
    if (!code_point.has_value()) ++at;
    const absl::string_view piece = bytes.substr(start, at - start);
    if (printable) {
      absl::StrAppend(&text, piece == "\"" || piece == "\\" ? "\\" : "", piece);
    } else {
      const auto byte = static_cast<unsigned char>(piece.front());
      absl::StrAppend(&text, "\\x", absl::Hex(byte, absl::kZeroPad2));
    }
  }
  return text + "\"";
}

}  // namespace maskd
