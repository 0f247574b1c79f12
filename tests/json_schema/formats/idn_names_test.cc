// Names of IDNA 2008 by the rules of RFC 5890 to 5893 and their appendices.
#include "grammar_core/frontend/json_schema/formats/idn_names.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/json_schema/formats/format_texts.h"

namespace maskd {
namespace {

FormatTexts& Names(Composition composition) {
  const auto made = [](Composition of) {
    return new FormatTexts(
        [of](FormatMaker& maker) { return IdnNames(maker.builder().Text("."), of, maker); });
  };
  static FormatTexts* const nfc = made(Composition::kNfc);
  static FormatTexts* const any = made(Composition::kAny);
  return composition == Composition::kNfc ? *nfc : *any;
}

struct NameCase {
  const char* name;
  std::string text;
  bool valid;
};

class IdnNameTest : public testing::TestWithParam<NameCase> {};

TEST_P(IdnNameTest, IsJudged) {
  for (const Composition composition : {Composition::kNfc, Composition::kAny})
    EXPECT_EQ(Names(composition).Has(GetParam().text), GetParam().valid) << GetParam().text;
}

std::string CaseName(const testing::TestParamInfo<NameCase>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(Labels, IdnNameTest,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"Ascii", "example", true},
                             {"AsciiWithCapitals", "Example-1", true},
                             {"Latin", "b\u00FCcher", true},
                             {"SharpS", "fa\u00DF", true},
                             {"FinalSigma", "\u03B2\u03CC\u03BB\u03BF\u03C2", true},
                             {"Han", "\u4F8B\u5B50", true},
                             {"Hangul", "\uD14C\uC2A4\uD2B8", true},
                             {"Thai", "\u0E44\u0E17\u0E22", true},
                             {"Devanagari", "\u0909\u0926\u093E\u0939\u0930\u0923", true},
                             {"Tamil", "\u0BAA\u0BB0\u0BBF", true},
                             {"DigitsOfAscii", "1\u00FC2", true},
                             {"Empty", "", false},
                             {"CapitalBeyondAscii", "B\u00DCcher", false},
                             {"CapitalBesideOthers", "B\u00FCcher", false},
                             {"Symbol", "\u2665", false},
                             {"Emoji", "\U0001F600", false},
                             {"Ligature", "\uFB01n", false},
                             {"FullWidth", "\uFF41", false},
                             {"Underscore", "\u00FC_a", false},
                             {"Space", "\u00FC a", false},
                             {"HyphenInside", "a-\u00FC", true},
                             {"HyphenFirst", "-\u00FC", false},
                             {"HyphenLast", "\u00FC-", false},
                             {"HyphensThirdAndFourth", "ab--\u00FC", false},
                             {"MarkFirst", "\u0301a", false},
                             {"VowelFirst", "\u093E\u0915", false},
                             {"Unassigned", "\u0378", false},
                         }),
                         CaseName);

// RFC 5892, appendix A.
INSTANTIATE_TEST_SUITE_P(Contexts, IdnNameTest,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"JoinerBehindAVirama", "\u0915\u094D\u200D\u0937", true},
                             {"NonJoinerBehindAVirama", "\u0915\u094D\u200C\u0937", true},
                             {"JoinerBehindALetter", "\u0915\u200D\u0937", false},
                             {"JoinerFirst", "\u200D\u0937", false},
                             {"NonJoinerBetweenJoiningLetters", "\u0628\u200C\u0628", true},
                             {"NonJoinerBeforeOneThatJoinsToTheRight", "\u0628\u200C\u062F", true},
                             {"NonJoinerBehindOneThatDoesNot", "\u062F\u200C\u0628", false},
                             {"JoinerBetweenJoiningLetters", "\u0628\u200D\u0628", false},
                             {"NonJoinerLast", "\u0628\u200C", false},
                             {"MiddleDotBetweenL", "l\u00B7l", true},
                             {"MiddleDots", "l\u00B7l\u00B7l", true},
                             {"MiddleDotBehindAnother", "a\u00B7l", false},
                             {"MiddleDotBeforeAnother", "l\u00B7a", false},
                             {"KeraiaBeforeGreek", "\u0375\u03B1", true},
                             {"KeraiaBeforeLatin", "\u0375a", false},
                             {"KeraiaLast", "\u03B1\u0375", false},
                             {"GereshBehindHebrew", "\u05D0\u05F3", true},
                             {"GershayimBehindHebrew", "\u05D0\u05F4\u05D1", true},
                             {"GereshFirst", "\u05F3\u05D0", false},
                             {"GereshBehindArabic", "\u0628\u05F3", false},
                             {"MiddleDotWithKatakana", "\u30A2\u30FB\u30A4", true},
                             {"MiddleDotWithHan", "\u30FB\u4E00", true},
                             {"MiddleDotAlone", "\u30FB", false},
                             {"MiddleDotWithLatin", "a\u30FBb", false},
                             {"ArabicIndicDigits", "\u0628\u0661", true},
                             {"ExtendedDigits", "\u0628\u06F1", true},
                             {"BothKindsOfDigits", "\u0628\u0661\u06F1", false},
                         }),
                         CaseName);

// RFC 5893, section 2.
INSTANTIATE_TEST_SUITE_P(Bidi, IdnNameTest,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"Hebrew", "\u05D0\u05D1", true},
                             {"Arabic", "\u0645\u062B\u0627\u0644", true},
                             {"DigitInside", "\u05D01\u05D1", true},
                             {"DigitLast", "\u05D01", true},
                             {"DigitFirst", "1\u05D0", false},
                             {"MarkLast", "\u05D0\u05B0", true},
                             {"LatinInside", "\u05D0a\u05D1", false},
                             {"LatinFirst", "a\u05D0", false},
                             {"EuropeanAndArabicDigits", "\u06281\u0661", false},
                             {"BesideLatin", "www.\u05D0\u05D1.com", true},
                             {"BesideADigitFirst", "1a.\u05D0", false},
                             {"BesideADigitAlone", "0.\u05D0", false},
                         }),
                         CaseName);

// Composites are spelled as one character in NFC; as parts they are another spelling of the name.
TEST(IdnNamesTest, OfComposition) {
  for (const char* composed : {"caf\u00E9", "\u00E5", "\u1E69", "\u304C", "\u03AC", "\uAC00"}) {
    EXPECT_TRUE(Names(Composition::kNfc).Has(composed)) << composed;
    EXPECT_TRUE(Names(Composition::kAny).Has(composed)) << composed;
  }
  for (const char* parts : {"cafe\u0301", "a\u030A", "s\u0323", "\u03B1\u0301"}) {
    EXPECT_FALSE(Names(Composition::kNfc).Has(parts)) << parts;
    EXPECT_TRUE(Names(Composition::kAny).Has(parts)) << parts;
  }
  // Nothing composes of these.
  EXPECT_TRUE(Names(Composition::kNfc).Has("q\u0301"));
  // Marks in another order than the canonical one.
  for (const Composition composition : {Composition::kNfc, Composition::kAny})
    EXPECT_FALSE(Names(composition).Has("\u05D0\u0301\u05B0"));
}

TEST(IdnNamesTest, LabelsHaveTheGivenDotBetween) {
  FormatTexts names([](FormatMaker& maker) {
    return IdnNames(maker.builder().Chars(CharSet({{'/', '/'}, {0x3002, 0x3002}})),
                    Composition::kNfc, maker);
  });
  for (const char* text : {"\u00E9", "\u00E9/a", "a\u3002\u00E9/b"})
    EXPECT_TRUE(names.Has(text)) << text;
  for (const char* text : {"\u00E9.a", "/\u00E9", "\u00E9/", "\u00E9//a"})
    EXPECT_FALSE(names.Has(text)) << text;
}

// docs/grammars.md has the bounds; one label fewer and one character fewer are well within DNS.
TEST(IdnNamesTest, AreShortEnoughForPunycode) {
  FormatTexts& names = Names(Composition::kNfc);
  const auto labels = [](std::size_t count) {
    return absl::StrJoin(std::vector<std::string>(count, "\u4E00"), ".");
  };
  EXPECT_TRUE(names.Has(labels(4)));
  EXPECT_FALSE(names.Has(labels(5)));
  const auto repeated = [](absl::string_view character, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) absl::StrAppend(&text, character);
    return text;
  };
  EXPECT_TRUE(names.Has(repeated("\u4E00", 11)));
  EXPECT_FALSE(names.Has(repeated("\u4E00", 12)));
  EXPECT_TRUE(names.Has(repeated("\u00FC", 14)));
  EXPECT_FALSE(names.Has(repeated("\u00FC", 15)));
  EXPECT_FALSE(names.Has(repeated("a", 64)));
}

}  // namespace
}  // namespace maskd
