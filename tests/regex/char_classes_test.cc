// The named sets, against what Python, RE2 and the standards say of them.
#include "grammar_core/frontend/regex/char_classes.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

std::uint32_t SizeOf(const CharSet& set) { return set.CountWithin({0, kMaxCodePoint}); }

// The set that `body` stands for in braces behind \p; all that is tested exists.
CharSet Property(absl::string_view body) {
  const std::optional<CharSet> chars = PropertyChars(body);
  if (!chars.has_value()) ADD_FAILURE() << body;
  return chars.value_or(CharSet());
}

// The characters of `candidates` that RE2 finds a match of `pattern` at.
CharSet FoundByRe2(const std::string& pattern, const std::u32string& candidates) {
  const RE2 re2(absl::StrCat("(", pattern, ")"));
  EXPECT_TRUE(re2.ok()) << re2.error();
  const std::string text = CodePointsToUtf8(candidates);
  re2::StringPiece rest(text);
  std::string found;
  std::vector<CharRange> ranges;
  while (RE2::FindAndConsume(&rest, re2, &found)) {
    const std::uint32_t c = Utf8ToCodePoints(found)->front();
    ranges.push_back({c, c});
  }
  return CharSet(std::move(ranges));
}

TEST(ShorthandSetsTest, EcmaHasAsciiDigitsAndWordsAndTheSpacesOfTheStandard) {
  const Shorthands& sets = EcmaShorthands();
  EXPECT_EQ(sets.digits, CharSet({{'0', '9'}}));
  EXPECT_EQ(sets.words, WordChars());
  // WhiteSpace and LineTerminator: TAB, VT, FF, ZWNBSP, the category Zs; LF, CR, LS, PS.
  EXPECT_EQ(sets.spaces, CharSet({{'\t', '\r'},
                                  {' ', ' '},
                                  {0xA0, 0xA0},
                                  {0x1680, 0x1680},
                                  {0x2000, 0x200A},
                                  {0x2028, 0x2029},
                                  {0x202F, 0x202F},
                                  {0x205F, 0x205F},
                                  {0x3000, 0x3000},
                                  {0xFEFF, 0xFEFF}}));
  EXPECT_EQ(sets.dot.Complement(), CharSet({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}));
}

// Counted with re.fullmatch() over all characters, in Python 3.11, whose Unicode is 14.0.
TEST(ShorthandSetsTest, PythonHasAsManyAsRe) {
  const Shorthands& sets = PythonShorthands();
  EXPECT_EQ(SizeOf(sets.digits), 660);
  EXPECT_EQ(SizeOf(sets.words), 133548);
  EXPECT_EQ(SizeOf(sets.spaces), 29);
  EXPECT_EQ(sets.dot.Complement(), CharSet::One('\n'));
  for (const std::uint32_t c : {0x1C, 0x1F, 0x85, 0x3000}) EXPECT_TRUE(sets.spaces.Contains(c));
  for (const std::uint32_t c : {0x1B, 0x180E, 0x200B, 0xFEFF})
    EXPECT_FALSE(sets.spaces.Contains(c));
  for (const std::uint32_t c : {0x5F, 0xB2, 0xBD, 0x2160, 0x4E00})
    EXPECT_TRUE(sets.words.Contains(c));
  for (const std::uint32_t c : {0x203F, 0x300, 0x24B6}) EXPECT_FALSE(sets.words.Contains(c));
}

TEST(ShorthandSetsTest, AsciiHasAsciiAlone) {
  const Shorthands& sets = AsciiShorthands();
  EXPECT_EQ(sets.digits, CharSet({{'0', '9'}}));
  EXPECT_EQ(sets.words, CharSet({{'A', 'Z'}, {'a', 'z'}, {'0', '9'}, {'_', '_'}}));
  EXPECT_EQ(sets.spaces, CharSet({{0x09, 0x0D}, {0x20, 0x20}}));
  EXPECT_EQ(sets.dot.Complement(), CharSet::One('\n'));
}

class PosixTest : public testing::TestWithParam<std::string> {};

TEST_P(PosixTest, IsTheClassOfRe2) {
  std::u32string candidates;
  for (char32_t c = 0; c < 0x250; ++c) candidates.push_back(c);
  const std::optional<CharSet> chars = PosixChars(GetParam());
  ASSERT_TRUE(chars.has_value());
  EXPECT_EQ(*chars, FoundByRe2(absl::StrCat("[[:", GetParam(), ":]]"), candidates));
}

INSTANTIATE_TEST_SUITE_P(Names, PosixTest,
                         testing::Values("alnum", "alpha", "ascii", "blank", "cntrl", "digit",
                                         "graph", "lower", "print", "punct", "space", "upper",
                                         "word", "xdigit"),
                         [](const auto& test) { return test.param; });

TEST(PosixNamesTest, OthersAreUnknown) {
  for (const absl::string_view name : {"", "Alpha", "alphabet", "alph", "^alpha", ":alpha:"})
    EXPECT_FALSE(PosixChars(name).has_value()) << name;
}

struct SameCase {
  std::string name;
  std::string property;
  std::string same;
};
class SamePropertyTest : public testing::TestWithParam<SameCase> {};

TEST_P(SamePropertyTest, IsTheOther) {
  const CharSet chars = Property(GetParam().property);
  EXPECT_FALSE(chars.empty());
  EXPECT_EQ(chars, Property(GetParam().same));
}

// PropertyAliases.txt and PropertyValueAliases.txt.
INSTANTIATE_TEST_SUITE_P(Aliases, SamePropertyTest,
                         testing::ValuesIn(std::vector<SameCase>{
                             {"Letter", "Letter", "L"},
                             {"LetterAsCategory", "gc=Letter", "L"},
                             {"CategoryInFull", "General_Category=Uppercase_Letter", "Lu"},
                             {"CasedLetter", "Cased_Letter", "gc=LC"},
                             {"CombiningMark", "Combining_Mark", "gc=M"},
                             {"Digit", "digit", "Decimal_Number"},
                             {"Punct", "gc=punct", "Punctuation"},
                             {"Cntrl", "cntrl", "Control"},
                             {"Separator", "Separator", "Z"},
                             {"Symbol", "gc=Symbol", "S"},
                             {"Number", "Number", "N"},
                             {"Other", "Other", "C"},
                             {"ScriptShort", "sc=Grek", "Script=Greek"},
                             {"ScriptBare", "Greek", "Grek"},
                             {"Inherited", "sc=Qaai", "Script=Inherited"},
                             {"Coptic", "Script=Qaac", "Coptic"},
                             {"Alpha", "Alpha", "Alphabetic"},
                             {"Lower", "Lower", "Lowercase"},
                             {"Upper", "Upper", "Uppercase"},
                             {"Space", "space", "White_Space"},
                             {"IdStart", "IDS", "ID_Start"},
                             {"IdContinue", "IDC", "ID_Continue"},
                             {"EmojiPresentation", "EPres", "Emoji_Presentation"},
                             {"ExtendedPictographic", "ExtPict", "Extended_Pictographic"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(PropertyTest, UnionsAreOfTheirCategories) {
  EXPECT_EQ(Property("LC"), Property("Lu").Union(Property("Ll")).Union(Property("Lt")));
  EXPECT_EQ(Property("L"), Property("LC").Union(Property("Lm")).Union(Property("Lo")));
  EXPECT_EQ(Property("Any"), CharSet::All());
  EXPECT_EQ(Property("ASCII"), CharSet({{0, 0x7F}}));
  EXPECT_EQ(Property("Assigned"), Property("Cn").Complement());
}

// ECMA-262, Names and values are matched as they are written, in the table they belong to.
TEST(PropertyTest, OthersAreUnknown) {
  for (const absl::string_view property : {"",
                                           "lu",
                                           "LU",
                                           "X",
                                           "NoSuch",
                                           "gc=",
                                           "gc=Greek",
                                           "gc=Alphabetic",
                                           "gc=Alpha",
                                           "gc=Any",
                                           "sc=",
                                           "sc=Lu",
                                           "sc=L",
                                           "sc=space",
                                           "Script=Alpha",
                                           "Script",
                                           "General_Category",
                                           " L",
                                           "Is_Greek",
                                           "Script=greek",
                                           "Dash",
                                           "scx=Greek"})
    EXPECT_FALSE(PropertyChars(property).has_value()) << property;
}

// ECMA-262, table 69 (binary properties) and what it says of Script_Extensions.
TEST(PropertyTest, WhatEcmaHasAndTheTablesDoNotIsTold) {
  for (const absl::string_view property :
       {"Dash", "AHex", "ASCII_Hex_Digit", "Cased", "XIDC", "XID_Start", "Math", "RI", "Radical",
        "CWKCF", "Variation_Selector", "scx=Greek", "Script_Extensions=Grek", "scx=Qaai"}) {
    EXPECT_TRUE(IsPropertyWithoutTable(property)) << property;
    EXPECT_FALSE(PropertyChars(property).has_value()) << property;
  }
  for (const absl::string_view property :
       {"", "dash", "NoSuch", "Alphabetic", "Alpha", "Greek", "sc=Greek", "Any",
        "scx=", "scx=NoSuch", "scx=Lu", "Script_Extensions=Alphabetic", "Script_Extensions"})
    EXPECT_FALSE(IsPropertyWithoutTable(property)) << property;
}

TEST(FoldCaseTest, AddsWhatFoldsAlike) {
  EXPECT_EQ(FoldCase(CharSet()), CharSet());
  EXPECT_EQ(FoldCase(CharSet::All()), CharSet::All());
  EXPECT_EQ(FoldCase(CharSet::One('1')), CharSet::One('1'));
  EXPECT_EQ(FoldCase(CharSet({{'j', 'k'}})), CharSet({{'J', 'K'}, {'j', 'k'}, {0x212A, 0x212A}}));
  EXPECT_EQ(FoldCase(CharSet::One(0x130)), CharSet::One(0x130));
}

// Some cased letters, marks and symbols, folded together. Unicode 15.1 lets six letters fold that
// did not before, and RE2 may know: those are left out.
TEST(FoldCaseTest, AddsWhatRe2Adds) {
  const CharSet later(
      {{0x390, 0x390}, {0x3B0, 0x3B0}, {0x1FD3, 0x1FD3}, {0x1FE3, 0x1FE3}, {0xFB05, 0xFB06}});
  std::u32string candidates;
  for (const absl::string_view name : {"Lu", "Ll", "Lt", "Lm", "Mn", "Nl", "So"}) {
    const CharSet chars = Property(name).Intersect(later.Complement());
    for (const CharRange& range : chars.ranges())
      for (char32_t c = range.lo; c <= range.hi; ++c) candidates.push_back(c);
  }
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 40; ++round) {
    std::vector<CharRange> ranges;
    std::string members;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t c = candidates[random() % candidates.size()];
      ranges.push_back({c, c});
      absl::StrAppendFormat(&members, "\\x{%x}", c);
    }
    const CharSet folded = FoldCase(CharSet(ranges));
    ASSERT_EQ(folded, FoundByRe2(absl::StrCat("(?i)[", members, "]"), candidates)) << members;
    ASSERT_EQ(FoldCase(folded), folded);
  }
}

}  // namespace
}  // namespace maskd
