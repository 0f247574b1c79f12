// The four kinds of values that name nothing. A string and a pattern become characters in the IR at
// once: the string folded character by character where an 'i' follows, the pattern by the regex
// reader, which gets the grammar's own text so that its errors have the right line and column.
//
// Invariant  the cursor stands right behind the value; space is passed only to look for a "..".
// Cost       linear in the value, and what the regex reader takes for a pattern.
// Source     Lark's grammar, Python's re for patterns; llguidance's tokens.
#include "grammar_core/frontend/lark/lark_values.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/notation/literal.h"
#include "grammar_core/frontend/regex/regex.h"

namespace maskd {
namespace {

// JSON's escapes, and \xHH and \UHHHHHHHH.
constexpr LiteralStyle kStringStyle = {
    .plain = "\\\"/", .controls = "bfnrt", .hex_digits = 2, .surrogate_pairs = true};

absl::StatusOr<std::u32string> ReadString(SourceReading& reading) {
  if (!reading.cursor.Take("\"")) return reading.cursor.Expected("a string");
  const absl::StatusOr<std::string> text = ReadQuoted(reading.cursor, kStringStyle, reading.budget);
  if (!text.ok()) return text.status();
  return *Utf8ToCodePoints(*text);
}

NodeId Folded(const std::u32string& text, IrBuilder& builder) {
  std::vector<NodeId> characters;
  characters.reserve(text.size());
  for (const char32_t c : text) characters.push_back(builder.Chars(FoldCase(CharSet::One(c))));
  return builder.Concat(characters);
}

NodeId Plain(const std::u32string& text, IrBuilder& builder) {
  return builder.Text(CodePointsToUtf8(text));
}

// Behind ".." of a range that begins with `first`, which stands at `begin`.
absl::StatusOr<ExprId> ReadRangeEnd(const std::u32string& first, std::size_t begin,
                                    SourceReading& reading, SourceGrammar& grammar) {
  PassInlineSpace(reading.cursor);
  const absl::StatusOr<std::u32string> last = ReadString(reading);
  if (!last.ok()) return last.status();
  if (first.size() != 1 || last->size() != 1)
    return reading.cursor.Invalid(begin, "each end of a range is one character");
  if (last->front() < first.front()) return reading.cursor.Invalid(begin, "the range is reversed");
  return AddCharacters(grammar, reading.builder.Chars(CharSet({{first.front(), last->front()}})), 1,
                       begin);
}

// Sets `*pattern` to what stands between the slashes and passes both. A line may end in it only
// where its flags, which are behind, hold an x.
absl::Status TakePattern(SourceReading& reading, std::size_t* first, std::size_t* end) {
  PatternCursor& cursor = reading.cursor;
  const std::size_t begin = cursor.at();
  cursor.Take("/");
  *first = cursor.at();
  while (!cursor.done() && cursor.Peek() != '/') {
    if (absl::Status status = reading.budget.Spend(); !status.ok()) return status;
    cursor.Take("\\");
    cursor.Next();
  }
  *end = cursor.at();
  if (cursor.Take("/")) return absl::OkStatus();
  return cursor.Invalid(begin, "the pattern has no end, expected '/'");
}

absl::Status ReadPatternFlags(PatternCursor& cursor, RegexOptions* options) {
  while (true) {
    const std::size_t at = cursor.at();
    switch (cursor.Peek()) {
      case 'i':
        options->fold = true;
        break;
      case 's':
        options->dot_all = true;
        break;
      case 'x':
        options->free_spacing = true;
        break;
      case 'u':
        break;
      case 'm':
        return cursor.Unsupported(at, "flag m (lines)");
      case 'l':
        return cursor.Unsupported(at, "flag l (locale)");
      default:
        return absl::OkStatus();
    }
    cursor.Next();
  }
}

// Behind "<[".
absl::Status ReadTokenIds(SourceReading& reading, TokenSpec* spec) {
  PatternCursor& cursor = reading.cursor;
  if (cursor.Take("*")) {
    spec->negated = true;
    return cursor.Take("]>") ? absl::OkStatus() : cursor.Expected("']>'");
  }
  spec->negated = cursor.Take("^");
  do {
    const std::size_t at = cursor.at();
    const absl::StatusOr<std::uint32_t> first = ReadTokenId(cursor);
    if (!first.ok()) return first.status();
    absl::StatusOr<std::uint32_t> last = *first;
    if (cursor.Take("-")) last = ReadTokenId(cursor);
    if (!last.ok()) return last.status();
    if (*last < *first) return cursor.Invalid(at, "the range is reversed");
    spec->ids.emplace_back(*first, *last);
  } while (cursor.Take(","));
  return cursor.Take("]>") ? absl::OkStatus() : cursor.Expected("',' or ']>'");
}

}  // namespace

absl::StatusOr<ExprId> ReadLarkString(SourceReading& reading, SourceGrammar& grammar) {
  PatternCursor& cursor = reading.cursor;
  const std::size_t begin = cursor.at();
  const absl::StatusOr<std::u32string> text = ReadString(reading);
  if (!text.ok()) return text.status();
  const bool fold = cursor.Take("i");
  const std::size_t end = cursor.at();
  PassInlineSpace(cursor);
  if (cursor.Take("..")) {
    if (fold) return cursor.Invalid(end - 1, "a range takes no flag");
    return ReadRangeEnd(*text, begin, reading, grammar);
  }
  cursor.MoveTo(end);
  const NodeId node = fold ? Folded(*text, reading.builder) : Plain(*text, reading.builder);
  return AddCharacters(grammar, node, text->size(), begin);
}

absl::StatusOr<std::string> ReadPlainString(SourceReading& reading) {
  if (!reading.cursor.Take("\"")) return reading.cursor.Expected("a string");
  return ReadQuoted(reading.cursor, kStringStyle, reading.budget);
}

absl::StatusOr<ExprId> ReadLarkPattern(SourceReading& reading, SourceGrammar& grammar) {
  const std::size_t begin = reading.cursor.at();
  RegexOptions options = {.shorthands = PythonShorthands(), .look_around = false};
  std::size_t end = 0;
  if (absl::Status status = TakePattern(reading, &options.begin, &end); !status.ok()) return status;
  const absl::Status flags = ReadPatternFlags(reading.cursor, &options);
  if (!flags.ok()) return flags;
  const absl::string_view pattern = reading.text.substr(options.begin, end - options.begin);
  if (!options.free_spacing && absl::StrContains(pattern, "\n"))
    return reading.cursor.Invalid(begin, "a pattern ends in its line, unless it has the flag x");
  const absl::StatusOr<NodeId> node = ReadRegex(reading.text.substr(0, end), options,
                                                reading.limits, reading.budget, reading.builder);
  if (!node.ok()) return node.status();
  return AddCharacters(grammar, *node, pattern.size(), begin);
}

absl::StatusOr<ExprId> ReadLarkToken(SourceReading& reading, SourceGrammar& grammar) {
  PatternCursor& cursor = reading.cursor;
  const std::size_t begin = cursor.at();
  TokenSpec spec;
  spec.place = reading.lines.Place(begin);
  cursor.Take("<");
  if (cursor.Take("[")) {
    if (absl::Status status = ReadTokenIds(reading, &spec); !status.ok()) return status;
  } else {
    while (!cursor.done() && cursor.Peek() != '<' && cursor.Peek() != '>' &&
           !(cursor.Peek() < 0x80 && absl::ascii_isspace(static_cast<char>(cursor.Peek())))) {
      cursor.Next();
    }
    const bool is_empty = cursor.at() == begin + 1;
    if (is_empty || !cursor.Take(">"))
      return cursor.Invalid(begin, "expected a token: <name> or <[ids]>");
    spec.names.emplace_back(reading.text.substr(begin, cursor.at() - begin));
  }
  const NodeId node = reading.builder.Tokens(std::move(spec));
  return grammar.Add({.kind = ExprKind::kBytes, .a = node, .at = begin});
}

}  // namespace maskd
