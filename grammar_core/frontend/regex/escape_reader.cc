// Dialects read the same escape differently. What all of them read alike is taken, what one of them
// knows and we do not support is UNIMPLEMENTED, and where two of them differ the pattern is refused
// with what to write instead.
//
// Invariant  a set is closed under folding before it is complemented: the complement then is, too.
// Cost       linear in the text and in the ranges of the sets that it names, which the budget pays.
// Source     ECMA-262; RE2; Python's re for the shorthands that its callers ask for.
#include "grammar_core/frontend/regex/escape_reader.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace maskd {
namespace {

constexpr std::uint32_t kHighSurrogates = 0xD800;
constexpr std::uint32_t kLowSurrogates = 0xDC00;
constexpr std::uint32_t kSurrogatesEnd = 0xE000;

bool IsSurrogate(std::uint32_t c) { return c >= kHighSurrogates && c < kSurrogatesEnd; }
bool IsAscii(std::uint32_t c) { return c < 0x80; }
bool IsLetter(std::uint32_t c) { return IsAscii(c) && absl::ascii_isalpha(static_cast<char>(c)); }
bool IsDigit(std::uint32_t c) { return c >= '0' && c <= '9'; }
bool IsOctal(std::uint32_t c) { return c >= '0' && c <= '7'; }
// White space too: it is how a space is written where the flag x ignores spaces.
bool StandsForItself(std::uint32_t c) {
  return IsAscii(c) &&
         (absl::ascii_ispunct(static_cast<char>(c)) || absl::ascii_isspace(static_cast<char>(c)));
}

std::optional<std::uint32_t> HexValue(std::uint32_t c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Letters that stand for one control character.
std::optional<std::uint32_t> ControlOf(std::uint32_t letter) {
  switch (letter) {
    case 'a':
      return 0x07;
    case 't':
      return 0x09;
    case 'n':
      return 0x0A;
    case 'v':
      return 0x0B;
    case 'f':
      return 0x0C;
    case 'r':
      return 0x0D;
    default:
      return std::nullopt;
  }
}

// Behind "{".
absl::StatusOr<std::uint32_t> BracedHex(PatternCursor& cursor) {
  const std::size_t begin = cursor.at();
  std::uint32_t value = 0;
  while (const std::optional<std::uint32_t> digit = HexValue(cursor.Peek())) {
    value = value * 16 + *digit;
    if (value > kMaxCodePoint) return cursor.Invalid(begin, "a code point is at most 10FFFF");
    cursor.Next();
  }
  if (cursor.at() == begin) return cursor.Expected("hexadecimal digits");
  if (!cursor.Take("}")) return cursor.Expected("a hexadecimal digit or '}'");
  return value;
}

// Behind \x or \u, which takes `digits` digits or any number in braces.
absl::StatusOr<std::uint32_t> CodePoint(PatternCursor& cursor, int digits) {
  const std::size_t begin = cursor.at();
  const bool braced = cursor.Take("{");
  absl::StatusOr<std::uint32_t> value = braced ? BracedHex(cursor) : ReadHexDigits(cursor, digits);
  if (value.ok() && !braced) value = WithLowSurrogate(cursor, *value);
  if (value.ok() && IsSurrogate(*value))
    return cursor.Invalid(begin, "a surrogate alone is no character");
  return value;
}

// Behind a backslash, at a digit. Three octal digits are a character, as is a zero with up to two
// more.
absl::StatusOr<std::uint32_t> OctalOrReference(PatternCursor& cursor, bool in_class) {
  const std::size_t begin = cursor.at();
  std::uint32_t value = 0;
  int digits = 0;
  const bool zero = cursor.Peek() == '0';
  for (; digits < 3 && IsOctal(cursor.Peek()); ++digits) value = value * 8 + (cursor.Next() - '0');
  if (zero || digits == 3) return value;
  if (in_class) return cursor.Invalid(begin, "expected an escape: a class has no back-references");
  return cursor.Unsupported(begin - 1, "back-reference");
}

CharSet Folded(CharSet set, bool fold) { return fold ? FoldCase(set) : set; }

// The name behind \p or \P: one letter, or anything in braces.
absl::StatusOr<std::string> PropertyName(PatternCursor& cursor) {
  absl::string_view name;
  if (cursor.Take("{")) {
    if (!cursor.TakeUntil("}", &name)) return cursor.Expected("the name of a property and '}'");
    return std::string(name);
  }
  if (!IsLetter(cursor.Peek())) return cursor.Expected("a property: \\p{Name} or a letter");
  return std::string(1, static_cast<char>(cursor.Next()));
}

absl::StatusOr<CharSet> ReadProperty(PatternCursor& cursor, bool negated, bool fold) {
  const std::size_t begin = cursor.at();
  absl::StatusOr<std::string> name = PropertyName(cursor);
  if (!name.ok()) return name.status();
  absl::string_view plain = *name;
  if (absl::ConsumePrefix(&plain, "^")) negated = !negated;
  std::optional<CharSet> set = PropertyChars(plain);
  if (!set.has_value()) {
    if (IsPropertyWithoutTable(plain))
      return cursor.Unsupported(begin - 2, absl::StrCat("\\p{", plain, "}"));
    return cursor.Invalid(begin,
                          absl::StrCat("there is no property \"", plain.substr(0, 64), "\""));
  }
  const CharSet folded = Folded(*std::move(set), fold);
  return negated ? folded.Complement() : folded;
}

// The set of \d, \w, \s or their complements; nothing for another letter.
std::optional<CharSet> Shorthand(std::uint32_t letter, const SetStyle& style) {
  switch (letter) {
    case 'd':
      return style.shorthands.digits;
    case 'D':
      return style.shorthands.digits.Complement();
    case 's':
      return style.shorthands.spaces;
    case 'S':
      return style.shorthands.spaces.Complement();
    case 'w':
      return Folded(style.shorthands.words, style.fold);
    case 'W':
      return Folded(style.shorthands.words, style.fold).Complement();
    default:
      return std::nullopt;
  }
}

absl::StatusOr<Escaped> OneCharacter(absl::StatusOr<std::uint32_t> character) {
  if (!character.ok()) return character.status();
  return Escaped{*character, {}};
}

absl::StatusOr<std::uint32_t> ControlLetter(PatternCursor& cursor) {
  if (!IsLetter(cursor.Peek())) return cursor.Expected("a letter after \\c");
  return cursor.Next() % 32;
}

absl::Status UnknownEscape(const PatternCursor& cursor, std::size_t begin, std::uint32_t c) {
  switch (c) {
    case 'k':
      return cursor.Unsupported(begin, "back-reference");
    case 'Q':
      return cursor.Unsupported(begin, "quoting with \\Q and \\E");
    case 'C':
      return cursor.Unsupported(begin, "\\C (a single byte)");
    case 'Z':
      return cursor.Unsupported(begin, "\\Z (write \\z or $)");
    case PatternCursor::kEnd:
      return cursor.Invalid(begin, "a backslash ends the pattern");
    default:
      return cursor.Invalid(begin, "this is no escape; a letter stands for itself without '\\'");
  }
}

// The members of a class as they are read.
class ClassMembers {
 public:
  explicit ClassMembers(bool fold) : fold_(fold) {}

  void Add(std::uint32_t lo, std::uint32_t hi) { plain_.push_back({lo, hi}); }
  void Add(const CharSet& set) {
    sets_.insert(sets_.end(), set.ranges().begin(), set.ranges().end());
  }
  [[nodiscard]] std::size_t ranges() const { return plain_.size() + sets_.size(); }
  [[nodiscard]] CharSet All() const { return Folded(CharSet(plain_), fold_).Union(CharSet(sets_)); }

 private:
  const bool fold_;
  std::vector<CharRange> plain_;
  std::vector<CharRange> sets_;  // folded already
};

// Behind "[:" of a class. False, and the cursor as it was, where it is no [:name:].
absl::StatusOr<bool> TakePosix(PatternCursor& cursor, bool fold, ClassMembers* members) {
  const std::size_t begin = cursor.at();
  const bool negated = cursor.Take("^");
  std::string name;
  while (IsLetter(cursor.Peek())) name.push_back(static_cast<char>(cursor.Next()));
  if (!cursor.Take(":]")) {
    cursor.MoveTo(begin);
    return false;
  }
  const std::optional<CharSet> set = PosixChars(name);
  if (!set.has_value()) return cursor.Invalid(begin, "there is no class of this name");
  const CharSet folded = Folded(*set, fold);
  members->Add(negated ? folded.Complement() : folded);
  return true;
}

// A ']' right behind the '[' or '[^' is a member, as in RE2, unless ECMA-262's reading (the class
// is empty and ends here) could be meant as well: then another '[' follows before the end.
struct ClassBegin {
  std::size_t at;
  bool bracket_first;

  // Refuses a '[' here.
  [[nodiscard]] absl::Status Check(const PatternCursor& cursor) const {
    if (!bracket_first || cursor.Peek() != '[') return absl::OkStatus();
    return cursor.Invalid(at, "dialects differ on a class that begins with ']'; write \\] and \\[");
  }
};

// A character or a set: a member, or what ends a range.
absl::StatusOr<Escaped> ClassAtom(PatternCursor& cursor, const SetStyle& style, ClassBegin begin) {
  if (absl::Status status = begin.Check(cursor); !status.ok()) return status;
  if (cursor.Take("\\")) return ReadEscape(cursor, true, style);
  return Escaped{cursor.Next(), {}};
}

// "-" and what ends the range, if they follow `lo`.
absl::Status ReadMember(PatternCursor& cursor, const SetStyle& style, ClassBegin class_begin,
                        ClassMembers* members) {
  const std::size_t begin = cursor.at();
  const absl::StatusOr<Escaped> lo = ClassAtom(cursor, style, class_begin);
  if (!lo.ok()) return lo.status();
  if (!lo->character.has_value()) {
    members->Add(lo->set);
    return absl::OkStatus();
  }
  const std::size_t dash = cursor.at();
  if (!cursor.Take("-") || cursor.Peek() == ']' || cursor.done()) {
    cursor.MoveTo(dash);
    members->Add(*lo->character, *lo->character);
    return absl::OkStatus();
  }
  const absl::StatusOr<Escaped> hi = ClassAtom(cursor, style, class_begin);
  if (!hi.ok()) return hi.status();
  if (!hi->character.has_value()) return cursor.Invalid(begin, "a range ends with a character");
  if (*hi->character < *lo->character) return cursor.Invalid(begin, "the range is reversed");
  members->Add(*lo->character, *hi->character);
  return absl::OkStatus();
}

}  // namespace

// A set of letters has hundreds of ranges, which are copied and sorted, and looked up to be folded.
std::int64_t SetUnits(std::size_t ranges, bool fold) {
  return static_cast<std::int64_t>(ranges * (fold ? 3 : 1) / 2);
}

absl::StatusOr<std::uint32_t> ReadHexDigits(PatternCursor& cursor, int digits) {
  assert(digits > 0 && digits <= 8 && "a value has 32 bits");
  std::uint32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const std::optional<std::uint32_t> digit = HexValue(cursor.Peek());
    if (!digit.has_value()) return cursor.Expected(absl::StrCat(digits, " hexadecimal digits"));
    value = value * 16 + *digit;
    cursor.Next();
  }
  return value;
}

std::uint32_t WithLowSurrogate(PatternCursor& cursor, std::uint32_t unit) {
  const std::size_t begin = cursor.at();
  if (unit >= kHighSurrogates && unit < kLowSurrogates && cursor.Take("\\u")) {
    const absl::StatusOr<std::uint32_t> low = ReadHexDigits(cursor, 4);
    if (low.ok() && *low >= kLowSurrogates && *low < kSurrogatesEnd)
      return 0x10000 + ((unit - kHighSurrogates) << 10) + (*low - kLowSurrogates);
  }
  cursor.MoveTo(begin);
  return unit;
}

absl::StatusOr<Escaped> ReadEscape(PatternCursor& cursor, bool in_class, const SetStyle& style) {
  const std::size_t begin = cursor.at() - 1;
  if (IsDigit(cursor.Peek())) return OneCharacter(OctalOrReference(cursor, in_class));
  const std::uint32_t c = cursor.Next();
  if (StandsForItself(c)) return Escaped{c, {}};
  if (const std::optional<std::uint32_t> control = ControlOf(c)) return Escaped{control, {}};
  if (std::optional<CharSet> set = Shorthand(c, style))
    return Escaped{std::nullopt, *std::move(set)};
  if (c == 'x') return OneCharacter(CodePoint(cursor, 2));
  if (c == 'u') return OneCharacter(CodePoint(cursor, 4));
  if (c == 'c') return OneCharacter(ControlLetter(cursor));
  if (c == 'b' && in_class) return Escaped{0x08, {}};
  if (c == 'p' || c == 'P') {
    absl::StatusOr<CharSet> set = ReadProperty(cursor, c == 'P', style.fold);
    if (!set.ok()) return set.status();
    return Escaped{std::nullopt, *std::move(set)};
  }
  return UnknownEscape(cursor, begin, c);
}

absl::StatusOr<CharSet> ReadClass(PatternCursor& cursor, const SetStyle& style, Budget& budget) {
  const std::size_t begin = cursor.at() - 1;
  const bool negated = cursor.Take("^");
  const ClassBegin class_begin = {begin, cursor.Take("]")};
  ClassMembers members(style.fold);
  if (class_begin.bracket_first) members.Add(']', ']');
  std::size_t paid = 0;
  while (!cursor.Take("]")) {
    const std::int64_t units =
        SetUnits(members.ranges() - std::exchange(paid, members.ranges()), style.fold);
    if (absl::Status status = budget.Spend(1 + units); !status.ok()) return status;
    if (cursor.done()) {
      return cursor.Invalid(begin, class_begin.bracket_first
                                       ? "the class has no end: the first ']' is a member of it"
                                       : "the class has no end, expected ']'");
    }
    if (absl::Status status = class_begin.Check(cursor); !status.ok()) return status;
    if (cursor.Take("[:")) {
      const absl::StatusOr<bool> posix = TakePosix(cursor, style.fold, &members);
      if (!posix.ok()) return posix.status();
      if (*posix) continue;
      cursor.MoveTo(cursor.at() - 2);
    }
    if (absl::Status status = ReadMember(cursor, style, class_begin, &members); !status.ok())
      return status;
  }
  const std::int64_t units = SetUnits(members.ranges() - paid, style.fold);
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  const CharSet all = members.All();
  return negated ? all.Complement() : all;
}

}  // namespace maskd
