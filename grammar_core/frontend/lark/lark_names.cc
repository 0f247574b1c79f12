#include "grammar_core/frontend/lark/lark_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace maskd {
namespace {

bool IsWordCharacter(std::uint32_t c) {
  return c < 0x80 && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_');
}

bool IsNameOf(absl::string_view name, bool (*is_letter)(unsigned char)) {
  absl::ConsumePrefix(&name, "_");
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || absl::ascii_isdigit(c) || c == '_' || c == '-';
         });
}

bool IsNewline(std::uint32_t c) { return c == '\n' || c == '\r'; }

// A backslash at the end of a line.
bool TakeContinuation(PatternCursor& cursor) {
  const std::size_t begin = cursor.at();
  if (!cursor.Take("\\")) return false;
  while (cursor.Take(" ")) {
  }
  cursor.Take("\r");
  if (cursor.Take("\n")) return true;
  cursor.MoveTo(begin);
  return false;
}

}  // namespace

bool IsRuleName(absl::string_view name) { return IsNameOf(name, &absl::ascii_islower); }

bool IsTerminalName(absl::string_view name) { return IsNameOf(name, &absl::ascii_isupper); }

// A '-' belongs to the name where a letter or digit follows: "a->b" is the name a and an arrow.
absl::string_view TakeWord(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  const std::size_t begin = cursor.at();
  while (true) {
    const std::size_t at = cursor.at();
    if (cursor.at() > begin) cursor.Take("-");
    if (!IsWordCharacter(cursor.Peek())) {
      cursor.MoveTo(at);
      return reading.text.substr(begin, at - begin);
    }
    cursor.Next();
  }
}

absl::StatusOr<absl::string_view> ReadLarkName(SourceReading& reading, absl::string_view what) {
  const std::size_t begin = reading.cursor.at();
  const absl::string_view name = TakeWord(reading);
  if (name.empty()) return reading.cursor.Expected(what);
  if (IsRuleName(name) || IsTerminalName(name)) return name;
  return reading.cursor.Invalid(
      begin,
      "a name begins with a letter and is in lower case (a rule) or upper case (a terminal)");
}

void PassInlineSpace(PatternCursor& cursor) {
  while (true) {
    if (cursor.Take(" ") || cursor.Take("\t") || cursor.Take("\f")) continue;
    if (TakeContinuation(cursor)) continue;
    if (!cursor.Take("#") && !cursor.Take("//")) return;
    while (!cursor.done() && !IsNewline(cursor.Peek())) cursor.Next();
  }
}

void PassLines(PatternCursor& cursor) {
  do {
    PassInlineSpace(cursor);
  } while (cursor.Take("\n") || cursor.Take("\r"));
}

}  // namespace maskd
