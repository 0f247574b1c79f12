#include "tools/cli/schemas/respelling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"

namespace maskd::cli {
namespace {

void AppendEscaped(std::uint32_t unit, std::string* out) {
  absl::StrAppend(out, "\\u", absl::Hex(unit, absl::kZeroPad4));
}

void AppendCharacter(std::uint32_t character, std::string* out) {
  if (character < 0x10000) return AppendEscaped(character, out);
  AppendEscaped(0xD800 + ((character - 0x10000) >> 10), out);
  AppendEscaped(0xDC00 + ((character - 0x10000) & 0x3FF), out);
}

// The inside of the string that begins at `text[at]`; ends at its closing quote.
std::size_t AppendInside(absl::string_view text, std::size_t at, Respelling respelling,
                         std::string* out) {
  while (at < text.size() && text[at] != '"') {
    const std::size_t start = at;
    if (text[at] == '\\') {
      at = std::min(at + (text.substr(at, 2) == "\\u" ? 6 : 2), text.size());
    } else if (const auto character = DecodeUtf8(text, &at); !character.has_value()) {
      ++at;
    } else if (respelling == Respelling::kEscaped) {
      AppendCharacter(*character, out);
      continue;
    }
    absl::StrAppend(out, text.substr(start, at - start));
  }
  return at;
}

}  // namespace

std::string Respelled(absl::string_view text, Respelling respelling) {
  if (respelling == Respelling::kGiven) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out.push_back(text[at]);
    if (text[at] == '"') {
      at = AppendInside(text, at + 1, respelling, &out);
      if (at < text.size()) out.push_back('"');
    } else if (respelling == Respelling::kSpaced && (text[at] == ',' || text[at] == ':') &&
               at + 1 < text.size() && text[at + 1] != ' ') {
      out.push_back(' ');
    }
  }
  return out;
}

}  // namespace maskd::cli
