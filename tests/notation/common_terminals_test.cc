// The terminals of Lark's library, by samples of each: what Python Lark says of random texts is in
// tests/peers/lark_peer_test.py.
#include "grammar_core/frontend/lark/common_terminals.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace maskd {
namespace {

struct TerminalCase {
  std::string name;
  std::vector<std::string> texts;
  std::vector<std::string> others;
};
class CommonTerminalTest : public testing::TestWithParam<TerminalCase> {};

// RE2 is another reader of the patterns.
TEST_P(CommonTerminalTest, MatchesItsTexts) {
  const std::string pattern = CommonTerminal(GetParam().name);
  const RE2 read(pattern);
  ASSERT_TRUE(read.ok()) << pattern;
  for (const std::string& text : GetParam().texts) EXPECT_TRUE(RE2::FullMatch(text, read)) << text;
  for (const std::string& text : GetParam().others)
    EXPECT_FALSE(RE2::FullMatch(text, read)) << text;
}

const std::vector<TerminalCase>& AllTerminals() {
  static const auto* const all = new std::vector<TerminalCase>{
      {"DIGIT", {"0", "9"}, {"", "10", "a"}},
      {"HEXDIGIT", {"0", "a", "F"}, {"g", "aa"}},
      {"INT", {"0", "007"}, {"", "-1", "1."}},
      {"SIGNED_INT", {"1", "+1", "-20"}, {"+", "+-1"}},
      {"DECIMAL", {"1.", ".5", "1.5"}, {".", "1", "-1."}},
      {"_EXP", {"e5", "E-3", "e+1"}, {"e", "5"}},
      {"FLOAT", {"1e5", "1.", ".5e-1"}, {"1", "e5", "+1."}},
      {"SIGNED_FLOAT", {"-1.5", "+1e2", "1."}, {"-1", "--1."}},
      {"NUMBER", {"1", "1.5", "1e5"}, {"-1", "."}},
      {"SIGNED_NUMBER", {"-1", "+2.5e10", "1"}, {"-", "+-1"}},
      {"ESCAPED_STRING",
       {R"("")", R"("a\"b")", R"("\\")"},
       {R"("\")", R"("a"b")", "\"a\nb\"", "a"}},
      {"LCASE_LETTER", {"a", "z"}, {"A", "aa"}},
      {"UCASE_LETTER", {"A", "Z"}, {"a", ""}},
      {"LETTER", {"a", "Z"}, {"1", "ab"}},
      {"WORD", {"a", "aB"}, {"", "a1"}},
      {"CNAME", {"a", "_a1"}, {"1a", "a-b"}},
      {"WS_INLINE", {" ", " \t"}, {"\n", ""}},
      {"WS", {" ", "\t\f\r\n"}, {"\v", ""}},
      {"CR", {"\r"}, {"\n"}},
      {"LF", {"\n"}, {"\r"}},
      {"NEWLINE", {"\n", "\r\n\n"}, {"\r", ""}},
      {"SH_COMMENT", {"#", "# a"}, {"# a\n", "a"}},
      {"CPP_COMMENT", {"//", "// a"}, {"// a\n", "/"}},
      {"C_COMMENT", {"/**/", "/* a \n*/", "/***/"}, {"/* */ */", "/*/", "/*a"}},
      {"SQL_COMMENT", {"--", "-- a"}, {"-- a\n", "-"}},
  };
  return *all;
}

INSTANTIATE_TEST_SUITE_P(Terminals, CommonTerminalTest, testing::ValuesIn(AllTerminals()),
                         [](const auto& test) {
                           return test.param.name[0] == '_' ? "Of" + test.param.name
                                                            : test.param.name;
                         });

TEST(CommonTerminalNamesTest, AreAllThatAreThere) {
  std::set<std::string> expected;
  for (const TerminalCase& terminal : AllTerminals()) expected.insert(terminal.name);
  const std::vector<std::string> names = absl::StrSplit(CommonTerminalNames(), ", ");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
  EXPECT_EQ(names.size(), expected.size());
  for (const char* other : {"", "int", "INT ", "FOO", "_STRING_INNER", "INT,"})
    EXPECT_EQ(CommonTerminal(other), "") << other;
}

}  // namespace
}  // namespace maskd
