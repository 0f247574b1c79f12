#include "grammar_core/ir/payload_text.h"

#include <cstddef>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

// Bytes of a literal that are printed; the rest is counted.
constexpr std::size_t kMaxTextBytes = 1000;
// Members of a set that are printed; the rest is counted.
constexpr std::size_t kMaxListed = 24;

std::string CodePoint(std::uint32_t c) {
  const bool plain = c > ' ' && c < 0x7F && c != '-' && c != '[' && c != ']' && c != '\\';
  return plain ? std::string(1, static_cast<char>(c)) : absl::StrCat("\\u{", absl::Hex(c), "}");
}

}  // namespace

std::string QuotedText(absl::string_view utf8) {
  const std::string shown = absl::Utf8SafeCHexEscape(utf8.substr(0, kMaxTextBytes));
  const bool whole = utf8.size() <= kMaxTextBytes;
  return absl::StrCat("\"", shown, whole ? "\"" : absl::StrCat("\"... ", utf8.size(), " bytes"));
}

std::string QuotedText(const std::u32string& text) { return QuotedText(CodePointsToUtf8(text)); }

std::string CharClassText(const std::vector<CharRange>& ranges) {
  std::string out = "[";
  for (std::size_t i = 0; i < ranges.size() && i < kMaxListed; ++i) {
    absl::StrAppend(&out, CodePoint(ranges[i].lo));
    if (ranges[i].hi > ranges[i].lo) absl::StrAppend(&out, "-", CodePoint(ranges[i].hi));
  }
  if (ranges.size() > kMaxListed) absl::StrAppend(&out, " ... ", ranges.size(), " ranges");
  return out + "]";
}

std::string ByteClassText(const ByteBits& bytes) {
  std::vector<CharRange> ranges;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (!bytes.test(byte)) continue;
    if (!ranges.empty() && ranges.back().hi + 1 == byte)
      ranges.back().hi = byte;
    else
      ranges.push_back({byte, byte});
  }
  return CharClassText(ranges);
}

const char* SpellingName(Spelling spelling) {
  switch (spelling) {
    case Spelling::kUtf8:
      return "utf8";
    case Spelling::kJsonString:
      return "json";
    case Spelling::kCanonicalJson:
      return "canonical_json";
  }
  return "";
}

std::string TextListText(const std::vector<std::u32string>& texts) {
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < texts.size() && i < kMaxListed; ++i)
    listed.push_back(QuotedText(texts[i]));
  if (texts.size() > kMaxListed) listed.push_back(absl::StrCat("... ", texts.size(), " texts"));
  return absl::StrCat("{", absl::StrJoin(listed, ", "), "}");
}

std::string TokenListText(const TokenSpec& spec) {
  std::vector<std::string> listed;
  for (const std::string& name : spec.names) listed.push_back(QuotedText(name));
  for (const auto& [first, last] : spec.ids)
    listed.push_back(first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last));
  return absl::StrCat(spec.negated ? "token_except<" : "token<", absl::StrJoin(listed, ", "), ">");
}

std::string RepeatText(std::uint32_t min, std::uint32_t max) {
  if (min == 0 && max == 1) return "?";
  if (max == kUnbounded) return min == 0 ? "*" : min == 1 ? "+" : absl::StrCat("{", min, ",}");
  if (min == max) return absl::StrCat("{", min, "}");
  return absl::StrCat("{", min, ",", max, "}");
}

}  // namespace maskd
