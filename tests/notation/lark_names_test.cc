// Names, words and space of Lark, against Python's patterns of them, written out by hand.
#include "grammar_core/frontend/lark/lark_names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "re2/re2.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

// As Lark's own grammar has them, and llguidance's hyphens.
TEST(LarkNameTest, EachNameIsARuleOrATerminalOrNone) {
  const RE2 rule("_?[a-z][-_a-z0-9]*");
  const RE2 terminal("_?[A-Z][-_A-Z0-9]*");
  int names = 0;
  for (const std::string& name : LetterTexts("aZ0_-", 5)) {
    EXPECT_EQ(IsRuleName(name), RE2::FullMatch(name, rule)) << name;
    EXPECT_EQ(IsTerminalName(name), RE2::FullMatch(name, terminal)) << name;
    names += IsRuleName(name) || IsTerminalName(name) ? 1 : 0;
  }
  EXPECT_GT(names, 500);
  for (const char* name : {"é", "aé", "a b", "\xff"}) EXPECT_FALSE(IsRuleName(name)) << name;
}

TEST(LarkNameTest, AWordHasHyphensBetweenItsCharacters) {
  const RE2 word("([a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*|).*");
  for (const std::string& text : LetterTexts("aZ_->", 5)) {
    TextInReading read(text);
    std::string expected;
    ASSERT_TRUE(RE2::FullMatch(text, word, &expected));
    EXPECT_EQ(TakeWord(read.reading), expected) << text;
    EXPECT_EQ(read.Rest(), text.substr(expected.size())) << text;
  }
}

struct NameError {
  const char* name;
  std::string text;
  std::string message;
};
class LarkNameErrorTest : public testing::TestWithParam<NameError> {};

TEST_P(LarkNameErrorTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  EXPECT_EQ(ReadLarkName(text.reading, "a name").status().message(), GetParam().message);
}

constexpr char kRuleOrTerminal[] =
    "1:1: a name begins with a letter and is in lower case (a rule) or upper case (a terminal)";

INSTANTIATE_TEST_SUITE_P(Names, LarkNameErrorTest,
                         testing::ValuesIn(std::vector<NameError>{
                             {"None", "", "1:1: expected a name, found the end of the grammar"},
                             {"Line", "\r\n", "1:1: expected a name, found the end of the line"},
                             {"Letter", "é", "1:1: expected a name, found 'é'"},
                             {"Hyphen", "-a", "1:1: expected a name, found '-'"},
                             {"Digit", "1a", kRuleOrTerminal},
                             {"Mixed", "aB", kRuleOrTerminal},
                             {"TwoUnderscores", "__a", kRuleOrTerminal},
                             {"Underscore", "_", kRuleOrTerminal},
                         }),
                         [](const auto& test) { return test.param.name; });

struct SpaceCase {
  const char* name;
  std::string text;
  std::string behind_inline;
  std::string behind_lines;
};
class LarkSpaceTest : public testing::TestWithParam<SpaceCase> {};

TEST_P(LarkSpaceTest, IsPassed) {
  TextInReading in_line(GetParam().text);
  PassInlineSpace(in_line.reading.cursor);
  EXPECT_EQ(in_line.Rest(), GetParam().behind_inline);
  TextInReading lines(GetParam().text);
  PassLines(lines.reading.cursor);
  EXPECT_EQ(lines.Rest(), GetParam().behind_lines);
}

INSTANTIATE_TEST_SUITE_P(Texts, LarkSpaceTest,
                         testing::ValuesIn(std::vector<SpaceCase>{
                             {"None", "a ", "a ", "a "},
                             {"Spaces", " \t\fa", "a", "a"},
                             {"Comment", "# a\nb", "\nb", "b"},
                             {"Slashes", " // a \\\r\nb", "\r\nb", "b"},
                             {"CommentAtTheEnd", "#", "", ""},
                             {"OneSlash", " /a/", "/a/", "/a/"},
                             {"Continued", "\\ \r\n \\\n#c\na", "\na", "a"},
                             {"NoContinuation", " \\ a\n", "\\ a\n", "\\ a\n"},
                             {"BackslashAtTheEnd", "\n\\", "\n\\", "\\"},
                             {"Lines", "\n\r\n\r # \n a", "\n\r\n\r # \n a", "a"},
                             {"NoBreakSpace", "\xC2\xA0 a", "\xC2\xA0 a", "\xC2\xA0 a"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
