#include "reasons/notation_span.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"

namespace maskd::reasons {
namespace {

// What ends a part that begins with this; 0: nothing does.
char CloserOf(char opener) {
  switch (opener) {
    case '"':
    case '\'':
    case '/':
      return opener;
    case '[':
      return ']';
    case '<':
      return '>';
    default:
      return 0;
  }
}

// Past the closer; a character behind a backslash closes nothing.
std::size_t EndOfEnclosed(absl::string_view source, std::size_t at, char closer) {
  for (std::size_t i = at + 1; i < source.size() && source[i] != '\n'; ++i)
    if (source[i] == '\\')
      ++i;
    else if (source[i] == closer)
      return i + 1;
  return at + 1;
}

std::size_t EndOfName(absl::string_view source, std::size_t at) {
  const auto is_of_name = [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; };
  const auto end = std::find_if_not(source.begin() + at, source.end(), is_of_name);
  return std::max<std::size_t>(at + 1, end - source.begin());
}

}  // namespace

SourceSpan SpanOfNotation(absl::string_view source, std::size_t at) {
  assert(at < source.size());
  SourceSpan span = {.begin = at};
  const char closer = CloserOf(source[at]);
  span.end = closer == 0 ? EndOfName(source, at) : EndOfEnclosed(source, at, closer);
  return WithLine(source, span);
}

std::string NotationText(absl::string_view source, const SourceSpan& span) {
  const absl::string_view text = source.substr(span.begin, span.end - span.begin);
  if (text.size() <= kMostNotation) return std::string(text);
  std::size_t cut = kMostNotation;
  while (cut > 0 && IsContinuationByte(text[cut])) --cut;
  return absl::StrCat(text.substr(0, cut), "...");
}

}  // namespace maskd::reasons
