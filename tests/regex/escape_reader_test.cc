// What a backslash begins and what brackets hold, read alone.
#include "grammar_core/frontend/regex/escape_reader.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using absl::StatusCode;

const SetStyle kPlain = {false, EcmaShorthands()};
const SetStyle kFolding = {true, EcmaShorthands()};

struct CharacterCase {
  std::string name;
  std::string text;  // with its backslash
  std::uint32_t expected;
  std::string rest = {};
  bool in_class = false;
};
class EscapedCharacterTest : public testing::TestWithParam<CharacterCase> {};

TEST_P(EscapedCharacterTest, IsOneCharacter) {
  PatternCursor cursor(GetParam().text, "");
  ASSERT_TRUE(cursor.Take("\\"));
  const absl::StatusOr<Escaped> escaped = ReadEscape(cursor, GetParam().in_class, kPlain);
  ASSERT_TRUE(escaped.ok()) << escaped.status();
  EXPECT_EQ(escaped->character, GetParam().expected);
  EXPECT_EQ(GetParam().text.substr(cursor.at()), GetParam().rest);
}

INSTANTIATE_TEST_SUITE_P(Escapes, EscapedCharacterTest,
                         testing::ValuesIn(std::vector<CharacterCase>{
                             {"Bell", "\\a", 0x07},
                             {"VerticalTab", "\\v", 0x0B},
                             {"FormFeed", "\\fx", 0x0C, "x"},
                             {"Backspace", "\\b", 0x08, "", true},
                             {"Punctuation", "\\~", '~'},
                             {"Underscore", "\\_", '_'},
                             {"Space", "\\ ", ' '},
                             {"LineFeed", "\\\n", '\n'},
                             {"Backslash", "\\\\d", '\\', "d"},
                             {"Nul", "\\0", 0},
                             {"NulAndAnEight", "\\08", 0, "8"},
                             {"ZeroAndTwoOctals", "\\0123", 012, "3"},
                             {"ThreeOctals", "\\1012", 0101, "2"},
                             {"GreatestOctal", "\\777", 0777},
                             {"OctalInAClass", "\\101", 0101, "", true},
                             {"TwoHex", "\\x4aB", 0x4A, "B"},
                             {"BracedHex", "\\x{10FFFF}", 0x10FFFF},
                             {"LeadingZeros", "\\u{0000000000041}", 0x41},
                             {"FourHex", "\\u00E91", 0xE9, "1"},
                             {"Pair", "\\uD83D\\uDE00", 0x1F600},
                             {"LeastPair", "\\uD800\\uDC00", 0x10000},
                             {"GreatestPair", "\\udbff\\udfff", 0x10FFFF},
                             {"BesideTheSurrogates", "\\uE000", 0xE000},
                             {"BeforeTheSurrogates", "\\u{D7FF}", 0xD7FF},
                             {"ControlLetter", "\\cZ", 26},
                             {"LowerControlLetter", "\\ca", 1},
                         }),
                         [](const auto& test) { return test.param.name; });

struct ErrorCase {
  std::string name;
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
  bool in_class = false;
};
class EscapeErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(EscapeErrorTest, SaysWhereAndWhat) {
  PatternCursor cursor(GetParam().text, "");
  ASSERT_TRUE(cursor.Take("\\"));
  const absl::Status status = ReadEscape(cursor, GetParam().in_class, kPlain).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(status.message().substr(0, GetParam().message.size()), GetParam().message);
}

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kUnsupported = StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Escapes, EscapeErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"End", "\\", kInvalid, "1:1: a backslash ends the pattern"},
        {"BoundaryInAClass", "\\B", kInvalid, "1:1: this is no escape", true},
        {"AnchorInAClass", "\\A", kInvalid, "1:1: this is no escape", true},
        {"ReferenceInAClass", "\\1", kInvalid, "1:2: expected an escape", true},
        {"TwoOctals", "\\12", kUnsupported, "1:1: back-reference"},
        {"Nine", "\\9", kUnsupported, "1:1: back-reference"},
        {"NamedReference", "\\k<n>", kUnsupported, "1:1: back-reference"},
        {"SingleByte", "\\C", kUnsupported, "1:1: \\C"},
        {"PairWithBraces", "\\uD83D\\u{DE00}", kInvalid, "1:3: a surrogate alone"},
        {"PairReversed", "\\uDE00\\uD83D", kInvalid, "1:3: a surrogate alone"},
        {"OpenBrace", "\\x{41", kInvalid, "1:6: expected a hexadecimal digit or '}'"},
        {"PastTheGreatest", "\\u{110000}", kInvalid, "1:4: a code point is at most 10FFFF"},
        {"LongHex", "\\u{FFFFFFFFFFFFFFFFF}", kInvalid, "1:4: a code point is at most 10FFFF"},
        {"ControlAndNoAscii", "\\cé", kInvalid, "1:3: expected a letter after \\c"},
        {"PropertyAndADigit", "\\p1", kInvalid, "1:3: expected a property"},
        {"EmptyProperty", "\\p{}", kInvalid, "1:3: there is no property \"\""},
        {"PropertyWithoutTable", "\\P{Dash}", kUnsupported, "1:1: \\p{Dash}"},
        {"ScriptExtensions", "\\p{scx=Greek}", kUnsupported, "1:1: \\p{scx=Greek}"},
        {"UnknownScriptExtensions", "\\p{scx=Foo}", kInvalid, "1:3: there is no property"},
    }),
    [](const auto& test) { return test.param.name; });

// `style` is what the sets are read with.
CharSet EscapedSet(absl::string_view text, const SetStyle& style) {
  PatternCursor cursor(text, "");
  EXPECT_TRUE(cursor.Take("\\"));
  const absl::StatusOr<Escaped> escaped = ReadEscape(cursor, false, style);
  if (!escaped.ok() || escaped->character.has_value() || !cursor.done()) {
    ADD_FAILURE() << text << ": " << escaped.status();
    return {};
  }
  return escaped->set;
}

TEST(EscapedSetTest, ShorthandsAreOfTheStyle) {
  EXPECT_EQ(EscapedSet("\\d", kPlain), CharSet({{'0', '9'}}));
  EXPECT_EQ(EscapedSet("\\D", kPlain), CharSet({{'0', '9'}}).Complement());
  EXPECT_EQ(EscapedSet("\\s", {false, PythonShorthands()}), PythonShorthands().spaces);
  EXPECT_EQ(EscapedSet("\\W", {false, PythonShorthands()}), PythonShorthands().words.Complement());
}

// ECMA-262 (CharacterClassEscape, with u and i): U+017F folds as s, U+212A as k.
TEST(EscapedSetTest, SetsAreFoldedBeforeTheyAreNegated) {
  const CharSet words = WordChars().Union(CharSet({{0x17F, 0x17F}, {0x212A, 0x212A}}));
  EXPECT_EQ(EscapedSet("\\w", kFolding), words);
  EXPECT_EQ(EscapedSet("\\W", kFolding), words.Complement());
  EXPECT_TRUE(EscapedSet("\\p{Lu}", kFolding).Contains('a'));
  EXPECT_FALSE(EscapedSet("\\P{Lu}", kFolding).Contains('a'));
  EXPECT_FALSE(EscapedSet("\\P{Lu}", kFolding).Contains('A'));
}

TEST(EscapedSetTest, PropertiesAreNegatedTwiceOrOnce) {
  const CharSet upper = *PropertyChars("Lu");
  EXPECT_EQ(EscapedSet("\\p{Lu}", kPlain), upper);
  EXPECT_EQ(EscapedSet("\\P{Lu}", kPlain), upper.Complement());
  EXPECT_EQ(EscapedSet("\\p{^Lu}", kPlain), upper.Complement());
  EXPECT_EQ(EscapedSet("\\P{^Lu}", kPlain), upper);
  EXPECT_EQ(EscapedSet("\\pN", kPlain), *PropertyChars("N"));
}

absl::StatusOr<CharSet> ClassOf(absl::string_view text, const SetStyle& style = kPlain) {
  PatternCursor cursor(text, "");
  EXPECT_TRUE(cursor.Take("["));
  Budget budget = Budget::Unlimited();
  absl::StatusOr<CharSet> set = ReadClass(cursor, style, budget);
  if (set.ok()) EXPECT_TRUE(cursor.done()) << text;
  return set;
}

struct ClassCase {
  std::string name;
  std::string text;
  std::vector<CharRange> expected;
};
class ClassTest : public testing::TestWithParam<ClassCase> {};

TEST_P(ClassTest, HoldsItsMembers) {
  const absl::StatusOr<CharSet> set = ClassOf(GetParam().text);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(*set, CharSet(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Classes, ClassTest,
    testing::ValuesIn(std::vector<ClassCase>{
        {"DashesAtTheEnds", "[-a-]", {{'-', '-'}, {'a', 'a'}}},
        {"RangeOfDashes", "[+--]", {{'+', '-'}}},
        {"RangeFromADash", "[--/]", {{'-', '/'}}},
        {"DashesBehindASet", "[\\d--/]", {{'-', '9'}}},
        {"CaretLater", "[a^]", {{'^', '^'}, {'a', 'a'}}},
        {"RangeOfOne", "[a-a]", {{'a', 'a'}}},
        {"RangeOfEscapes", "[\\x41-\\u{43}]", {{'A', 'C'}}},
        {"RangeToABracket", "[A-\\]]", {{'A', ']'}}},
        {"RangeFromAClosingBracket", "[]-a]", {{']', ']'}, {'-', '-'}, {'a', 'a'}}},
        {"RangeToAnOpeningBracket", "[A-[]", {{'A', '['}}},
        {"RangeOverTheSurrogates", "[\\uD7FF-\\uE000]", {{0xD7FF, 0xD7FF}, {0xE000, 0xE000}}},
        {"NoPosixName", "[[:ab]", {{':', ':'}, {'[', '['}, {'a', 'b'}}},
        {"PosixBesideOthers", "[a[:digit:]b]", {{'0', '9'}, {'a', 'b'}}},
        {"AmpersandsAreMembers", "[a&&b]", {{'&', '&'}, {'a', 'b'}}},
        {"NotAscii", "[^\\x80-\\u{10FFFF}]", {{0, 0x7F}}},
        {"NotAnything", "[^\\s\\S]", {}},
    }),
    [](const auto& test) { return test.param.name; });

// ECMA-262 reads "[]" and "[^]" as whole classes, RE2 their ']' as a member: refused where both
// can be read.
TEST(ClassErrorTest, TwoReadingsAreRefused) {
  for (const absl::string_view text : {"[][a]", "[^][a]", "[]a[b]", "[]A-[]", "[^]A-[]"}) {
    const absl::Status status = ClassOf(text).status();
    EXPECT_EQ(status.code(), kInvalid) << text;
    EXPECT_EQ(status.message().substr(0, 20), "1:1: dialects differ") << text << ": " << status;
  }
  EXPECT_EQ(*ClassOf("[]\\[]"), CharSet({{'[', '['}, {']', ']'}}));
  EXPECT_EQ(*ClassOf("[]A-\\[]"), CharSet({{'A', '['}, {']', ']'}}));
}

TEST(ClassErrorTest, PlacesAreThoseOfTheFault) {
  EXPECT_EQ(ClassOf("[a").status().message(), "1:1: the class has no end, expected ']'");
  EXPECT_EQ(ClassOf("[a-").status().message(), "1:1: the class has no end, expected ']'");
  EXPECT_EQ(ClassOf("[xb-a]").status().message(), "1:3: the range is reversed");
  EXPECT_EQ(ClassOf("[x!-\\w]").status().message(), "1:3: a range ends with a character");
  EXPECT_EQ(ClassOf("[[::]]").status().message(), "1:4: there is no class of this name");
}

TEST(ClassFoldTest, IsFoldedBeforeItIsNegated) {
  EXPECT_EQ(*ClassOf("[a-b]", kFolding), CharSet({{'A', 'B'}, {'a', 'b'}}));
  EXPECT_EQ(*ClassOf("[^a-b]", kFolding), CharSet({{'A', 'B'}, {'a', 'b'}}).Complement());
  EXPECT_EQ(*ClassOf("[[:^lower:]]", kFolding), FoldCase(CharSet({{'a', 'z'}})).Complement());
}

TEST(ClassBudgetTest, MembersAreOfTheBudget) {
  PatternCursor cursor("abcdefgh]", "");
  Budget budget(Budget::Bounds{.work = 3});
  EXPECT_EQ(ReadClass(cursor, kPlain, budget).status().code(), StatusCode::kResourceExhausted);
  EXPECT_LT(SetUnits(100, false), SetUnits(100, true));
  EXPECT_EQ(SetUnits(0, true), 0);
}

TEST(HexDigitsTest, AreAsManyAsAsked) {
  PatternCursor cursor("0fF8g", "");
  const absl::StatusOr<std::uint32_t> three = ReadHexDigits(cursor, 3);
  ASSERT_TRUE(three.ok()) << three.status();
  EXPECT_EQ(*three, 0xFFU);
  EXPECT_EQ(ReadHexDigits(cursor, 2).status().message(),
            "1:5: expected 2 hexadecimal digits, found 'g'");
  PatternCursor eight("FFFFFFFF", "");
  EXPECT_EQ(*ReadHexDigits(eight, 8), 0xFFFFFFFFU);
  EXPECT_TRUE(eight.done());
}

// Without a low one behind it the unit and the cursor stay as they are.
TEST(LowSurrogateTest, IsTakenBehindAHighOneAlone) {
  PatternCursor pair("\\uDE00", "");
  EXPECT_EQ(WithLowSurrogate(pair, 0xD83D), 0x1F600U);
  EXPECT_TRUE(pair.done());
  for (const absl::string_view text : {"\\uD83D", "\\u{DE00}", "\\uDE0", "uDE00", "\\uE000", ""}) {
    PatternCursor cursor(text, "");
    EXPECT_EQ(WithLowSurrogate(cursor, 0xD83D), 0xD83DU) << text;
    EXPECT_EQ(cursor.at(), 0U) << text;
  }
  for (const std::uint32_t unit : {0x41U, 0xDC00U, 0xE000U}) {
    PatternCursor cursor("\\uDE00", "");
    EXPECT_EQ(WithLowSurrogate(cursor, unit), unit);
    EXPECT_EQ(cursor.at(), 0U);
  }
}

}  // namespace
}  // namespace maskd
