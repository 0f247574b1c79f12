#include "grammar_core/frontend/notation/literal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/regex/escape_reader.h"

namespace maskd {
namespace {

constexpr absl::string_view kControlLetters = "0abefnrtv";
constexpr absl::string_view kControls("\0\a\b\033\f\n\r\t\v", 9);
// As kMaxCount of patterns.
constexpr std::uint64_t kMaxRepeatCount = std::numeric_limits<std::int32_t>::max();

constexpr std::uint64_t kMaxTokenId = std::numeric_limits<std::uint32_t>::max();

bool IsHexDigit(std::uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsOneOf(std::uint32_t c, absl::string_view characters) {
  return c < 0x80 && characters.find(static_cast<char>(c)) != absl::string_view::npos;
}

// One hexadecimal digit or more; a value past every code point stays there.
absl::StatusOr<std::uint32_t> ReadAllHexDigits(PatternCursor& cursor) {
  absl::StatusOr<std::uint32_t> value = ReadHexDigits(cursor, 1);
  while (value.ok() && *value <= kMaxCodePoint && IsHexDigit(cursor.Peek()))
    value = *value * 16 + *ReadHexDigits(cursor, 1);
  return value;
}

absl::StatusOr<std::uint32_t> ReadCodePoint(PatternCursor& cursor, std::uint32_t letter,
                                            const LiteralStyle& style) {
  switch (letter) {
    case 'x':
      return style.hex_digits == 0 ? ReadAllHexDigits(cursor)
                                   : ReadHexDigits(cursor, style.hex_digits);
    case 'u': {
      const absl::StatusOr<std::uint32_t> unit = ReadHexDigits(cursor, 4);
      return unit.ok() && style.surrogate_pairs ? WithLowSurrogate(cursor, *unit) : unit;
    }
    default:
      return ReadHexDigits(cursor, 8);
  }
}

absl::StatusOr<std::uint32_t> ReadLiteralEscape(PatternCursor& cursor, const LiteralStyle& style) {
  const std::size_t begin = cursor.at() - 1;
  if (cursor.done()) return cursor.Expected("what the backslash escapes");
  const std::uint32_t c = cursor.Next();
  if (IsOneOf(c, style.plain)) return c;
  if (IsOneOf(c, style.controls)) {
    const auto letter = kControlLetters.find(static_cast<char>(c));
    assert(letter < kControls.size());
    return static_cast<unsigned char>(kControls[letter]);
  }
  if (c != 'x' && c != 'u' && c != 'U')
    return cursor.Invalid(begin, "this is no escape here; write \\\\ for a backslash");
  const absl::StatusOr<std::uint32_t> value = ReadCodePoint(cursor, c, style);
  if (!value.ok()) return value;
  if (*value > kMaxCodePoint) return cursor.Invalid(begin, "a code point is at most 10FFFF");
  if (*value >= 0xD800 && *value < 0xE000)
    return cursor.Invalid(begin, "a surrogate alone is no character");
  return value;
}

// A number of any size; what is past every limit stays there.
absl::StatusOr<std::uint64_t> ReadDecimal(PatternCursor& cursor, absl::string_view what) {
  constexpr std::uint64_t kPastAnyLimit = std::numeric_limits<std::int64_t>::max() / 20;
  const std::size_t begin = cursor.at();
  std::uint64_t value = 0;
  while (cursor.Peek() >= '0' && cursor.Peek() <= '9')
    value = std::min(value * 10 + (cursor.Next() - '0'), kPastAnyLimit);
  if (cursor.at() == begin) return cursor.Expected(what);
  return value;
}

}  // namespace

absl::StatusOr<std::uint32_t> ReadLiteralCharacter(PatternCursor& cursor,
                                                   const LiteralStyle& style) {
  return cursor.Take("\\") ? ReadLiteralEscape(cursor, style) : cursor.Next();
}

absl::StatusOr<std::string> ReadQuoted(PatternCursor& cursor, const LiteralStyle& style,
                                       Budget& budget) {
  const std::size_t begin = cursor.at() - 1;
  std::string text;
  while (!cursor.Take("\"")) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    const std::uint32_t next = cursor.Peek();
    if (next == PatternCursor::kEnd || (!style.newlines && (next == '\n' || next == '\r'))) {
      return cursor.Invalid(
          begin, absl::StrCat("the literal has no end, expected '\"' before ", cursor.Found()));
    }
    const absl::StatusOr<std::uint32_t> c = ReadLiteralCharacter(cursor, style);
    if (!c.ok()) return c.status();
    AppendUtf8(*c, &text);
  }
  return text;
}

absl::StatusOr<std::uint64_t> ReadNumber(PatternCursor& cursor, absl::string_view what,
                                         absl::string_view limit_name, std::uint64_t limit) {
  const std::size_t begin = cursor.at();
  const absl::StatusOr<std::uint64_t> value = ReadDecimal(cursor, what);
  if (!value.ok() || *value <= limit) return value;
  return cursor.Limit(begin, limit_name, static_cast<std::int64_t>(limit),
                      static_cast<std::int64_t>(*value));
}

absl::StatusOr<std::uint32_t> ReadTokenId(PatternCursor& cursor) {
  const std::size_t begin = cursor.at();
  const absl::StatusOr<std::uint64_t> id = ReadDecimal(cursor, "the id of a token");
  if (!id.ok()) return id.status();
  if (*id > kMaxTokenId)
    return cursor.Invalid(begin, absl::StrCat("the id of a token is at most ", kMaxTokenId));
  return static_cast<std::uint32_t>(*id);
}

absl::StatusOr<float> ReadTemperature(PatternCursor& cursor) {
  const std::size_t begin = cursor.at();
  std::string number;
  while (IsOneOf(cursor.Peek(), "0123456789.eE+-"))
    number.push_back(static_cast<char>(cursor.Next()));
  float value = 0;
  if (absl::SimpleAtof(number, &value) && std::isfinite(value) && value >= 0)
    return std::abs(value);  // -0 is 0
  return cursor.Invalid(begin, "expected a temperature: a number that is not negative");
}

absl::StatusOr<std::uint32_t> ReadRepeatCount(PatternCursor& cursor) {
  const absl::StatusOr<std::uint64_t> count =
      ReadNumber(cursor, "a number", "repeat_count", kMaxRepeatCount);
  if (!count.ok()) return count.status();
  return static_cast<std::uint32_t>(*count);
}

}  // namespace maskd
