#include "grammar_core/tokenizer/piece_pattern.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "re2/re2.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr absl::string_view kSpaceBeforeOthers = "\\s+(?!\\S)|\\s+";
// The members of \s in Unicode, inside of brackets.
constexpr absl::string_view kSpaces = "\\t-\\r\\x{85}\\p{Z}";

// What means the same behind a backslash to all; \s and \S are told apart.
constexpr absl::string_view kSameEscapes = "pPnrtfv";

// Whether what stands at the start of `rest` means something else to RE2 than to the libraries of
// tokenizers: sets within sets, borders of lines, flags.
bool IsReadOtherwise(absl::string_view rest, bool in_class) {
  if (in_class) return absl::StartsWith(rest, "[") || absl::StartsWith(rest, "&&");
  const bool is_flag = absl::StartsWith(rest, "(?") && !absl::StartsWith(rest, "(?:") &&
                       !absl::StartsWith(rest, "(?i:");
  return rest[0] == '^' || rest[0] == '$' || is_flag || absl::StartsWith(rest, "{,");
}

// `pattern` as RE2 writes it; nothing where that would not mean the same.
std::optional<std::string> Translated(absl::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (IsReadOtherwise(pattern.substr(i), in_class)) return std::nullopt;
    if (c == '[' && absl::StartsWith(pattern.substr(i + 1), "^")) out.push_back(pattern[i++]);
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    if (c != '\\' || i + 1 == pattern.size()) {
      out.push_back(pattern[i]);
      continue;
    }
    const char escaped = pattern[++i];
    const bool is_same = absl::StrContains(kSameEscapes, escaped) ||
                         absl::ascii_ispunct(static_cast<unsigned char>(escaped));
    if (escaped == 's')
      absl::StrAppend(&out, in_class ? "" : "[", kSpaces, in_class ? "" : "]");
    else if (escaped == 'S' && !in_class)
      absl::StrAppend(&out, "[^", kSpaces, "]");
    else if (is_same)
      out.append({c, escaped});
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace

PiecePattern::PiecePattern() = default;
PiecePattern::~PiecePattern() = default;

std::unique_ptr<const PiecePattern> PiecePattern::Create(absl::string_view pattern) {
  const bool has_space_group = absl::ConsumeSuffix(&pattern, kSpaceBeforeOthers);
  std::optional<std::string> translated =
      Translated(absl::StrCat(pattern, has_space_group ? "(\\s+)" : ""));
  if (!translated.has_value()) return nullptr;
  RE2::Options options;
  options.set_log_errors(false);
  std::unique_ptr<PiecePattern> made(new PiecePattern());
  auto regex = std::make_unique<const RE2>(*translated, options);
  if (!regex->ok()) return nullptr;
  made->space_group_ = has_space_group ? regex->NumberOfCapturingGroups() : 0;
  made->regex_ = std::move(regex);
  return made;
}

void PiecePattern::Cut(absl::string_view text, std::vector<absl::string_view>* pieces) const {
  const re2::StringPiece whole(text.data(), text.size());
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(space_group_) + 1);
  std::size_t begin = 0;  // of what is in no piece yet
  std::size_t at = 0;
  while (at < text.size() && regex_->Match(whole, at, text.size(), RE2::UNANCHORED, groups.data(),
                                           static_cast<int>(groups.size()))) {
    const auto match = static_cast<std::size_t>(groups[0].data() - text.data());
    std::size_t end = match + groups[0].size();
    if (space_group_ > 0 && !groups.back().empty() && end < text.size()) {
      // The last of the white space belongs to what follows, unless it is all there is.
      std::size_t last = end - 1;
      while (Utf8SequenceBytes(static_cast<unsigned char>(text[last])) == 0) --last;
      if (last > match) end = last;
    }
    if (match > begin) pieces->push_back(text.substr(begin, match - begin));
    if (end > match) pieces->push_back(text.substr(match, end - match));
    begin = end;
    at = end > match ? end : match + 1;
  }
  if (begin < text.size()) pieces->push_back(text.substr(begin));
}

}  // namespace maskd
