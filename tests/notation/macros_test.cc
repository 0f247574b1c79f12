// EBNF's macros: texts of Regex and Substring, tokens, and dispatches against a search for tags.
#include "grammar_core/frontend/ebnf/macros.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

TEST(MacroNameTest, NamesAreExact) {
  for (const char* name :
       {"Regex", "Substring", "Token", "ExcludeToken", "TagDispatch", "TokenTagDispatch"})
    EXPECT_TRUE(IsMacro(name)) << name;
  for (const char* name : {"", "regex", "Regex ", "Tag", "Tokens", "TagDispatch("})
    EXPECT_FALSE(IsMacro(name)) << name;
}

// `call` is "Name(arguments)".
absl::StatusOr<ExprId> ReadMacroOf(TextInReading& text) {
  const std::size_t bracket = text.text.find('(');
  text.reading.cursor.MoveTo(bracket);
  return ReadMacro(text.text.substr(0, bracket), 0, text.reading, text.grammar);
}

struct CharactersCase {
  const char* name;
  std::string text;
  std::set<std::string> matched;
  std::vector<std::string> others;
};
class CharacterMacroTest : public testing::TestWithParam<CharactersCase> {};

TEST_P(CharacterMacroTest, HasItsTexts) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<ExprId> made = ReadMacroOf(text);
  ASSERT_TRUE(made.ok()) << made.status();
  std::vector<std::string> candidates = GetParam().others;
  candidates.insert(candidates.end(), GetParam().matched.begin(), GetParam().matched.end());
  EXPECT_EQ(text.TextsOf(*made, candidates), GetParam().matched);
  EXPECT_EQ(text.Rest(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Macros, CharacterMacroTest,
    testing::ValuesIn(std::vector<CharactersCase>{
        {"Regex", R"(Regex("^a.\\d$"))", {"a\n1", "aé2"}, {"a1", "ab٣", "^ab1$"}},
        {"RegexOfNothing", R"(Regex(""))", {""}, {"a"}},
        {"RegexWithoutFlags", R"(Regex("a.", flags=""))", {"ab"}, {"a\n", "Ab"}},
        {"RegexFolded", R"(Regex("k.", flags="i"))", {"ka", "Ka", "\u212a "}, {"k\n"}},
        {"RegexDotAll", R"(Regex("k.", flags="uis"))", {"k\n", "K\n"}, {"k"}},
        {"RegexInJson",
         R"(Regex("[^a]+", json_string=true))",
         {"é", "{}"},
         {"\"", "\\", "\n", "a"}},
        {"RegexNotInJson", R"(Regex("[^a]", json_string=false))", {"\"", "\\"}, {"a"}},
        {"Substring", R"(Substring("ab", "", "c"))", {"", "ab", "abc", "c"}, {"a", "b", "ac"}},
        {"SubstringOfNothing", "Substring()", {""}, {"a"}},
    }),
    [](const auto& test) { return test.param.name; });

struct BadMacro {
  const char* name;
  std::string text;
  std::string message;  // its beginning
  StatusCode code = StatusCode::kInvalidArgument;
};
class BadMacroTest : public testing::TestWithParam<BadMacro> {};

TEST_P(BadMacroTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadMacroOf(text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Macros, BadMacroTest,
    testing::ValuesIn(std::vector<BadMacro>{
        {"RegexOfNothing", "Regex()", "1:1: Regex takes a pattern in quotes"},
        {"RegexOfANumber", "Regex(1)", "1:1: Regex takes a pattern in quotes"},
        {"RegexByName", "Regex(pattern=\"a\")", "1:1: Regex takes a pattern in quotes"},
        {"RegexOfTwo", "Regex(\"a\", \"b\")", "1:12: the macro has no argument of the name"},
        {"RegexArgument", "Regex(\"a\", flag=\"i\")",
         "1:12: the macro has no argument of the name flag"},
        {"RegexFlag", "Regex(\"a\", flags=\"x\")", "1:18: flags are of i, s and u"},
        {"RegexFlagsAsAName", "Regex(\"a\", flags=i)", "1:18: expected flags in quotes"},
        {"RegexTruth", "Regex(\"a\", json_string=1)",
         "1:12: the macro has no argument of the name json"},
        {"RegexPattern", "Regex( \"a\\n(b\")", "1:8: in the pattern, at 2:1: the group has no end"},
        {"RegexLook", "Regex(\"a(?=b)\")", "1:7: in the pattern, at 1:2: look-ahead",
         StatusCode::kUnimplemented},
        {"SubstringOfANumber", "Substring(\"a\", 1)", "1:16: Substring takes texts in quotes"},
        {"SubstringByName", "Substring(a=\"a\")", "1:11: the macro has no argument of the name a"},
        {"TokenOfNothing", "Token()", "1:1: expected ids of tokens"},
        {"TokenOfAText", "Token(\"a\")", "1:7: the id of a token is a number"},
        {"TokenOfLessThanNothing", "Token(-1)", "1:7: the id of a token is a number"},
        {"ExcludeNothing", "ExcludeToken()", "1:1: expected ids of tokens"},
        {"DispatchOfAText", "TagDispatch(\"a\")", "1:13: expected a pair: (tag, rule)"},
        {"DispatchOfOne", "TagDispatch((\"a\"))", "1:13: expected a pair: (tag, rule)"},
        {"DispatchOfThree", "TagDispatch((\"a\", b, c))", "1:13: expected a pair: (tag, rule)"},
        {"DispatchToAText", "TagDispatch((\"a\", \"b\"))", "1:13: expected a pair: (tag, rule)"},
        {"DispatchOfATokensTag", "TagDispatch((1, b))", "1:14: expected a text in quotes that"},
        {"DispatchOfNoText", "TagDispatch((\"\", b))",
         "1:14: expected a text in quotes that is not"},
        {"DispatchOption", "TagDispatch(loop=true)", "1:13: the macro has no argument of the name"},
        {"DispatchLoop", "TagDispatch(loop_after_dispatch=\"true\")",
         "1:33: expected true or false"},
        {"DispatchExcludes", "TagDispatch(excludes=\"a\")", "1:22: expected a tuple: (value, ...)"},
        {"DispatchExcludesNoText", "TagDispatch(excludes=(\"\",))",
         "1:23: expected a text in quotes"},
        {"DispatchExcludesATagsBegin", "TagDispatch((\"ab\", r), excludes=(\"a\",))",
         "1:34: what is excluded must not begin a tag"},
        {"DispatchExcludesATag", "TagDispatch((\"ab\", r), excludes=(\"ab\",))",
         "1:34: what is excluded must not begin a tag"},
        {"DispatchExcludesATagsEnd", "TagDispatch((\"ab\", r), excludes=(\"b\",))",
         "1:34: a tag or exclude within another", StatusCode::kUnimplemented},
        {"DispatchTagInAnExclude", "TagDispatch((\"b\", r), excludes=(\"ab\",))",
         "1:14: a tag or exclude within another", StatusCode::kUnimplemented},
        {"TokenDispatchOfAText", "TokenTagDispatch((\"a\", b))",
         "1:19: expected the id of a token"},
        {"TokenDispatchBoth", "TokenTagDispatch((1, b), excludes=(2, 1))",
         "1:39: the token is a tag and excluded"},
    }),
    [](const auto& test) { return test.param.name; });

// What a dispatch takes, found by searching for the first tag or exclude in the text: after a tag
// "!" must stand, where it is known by its own rule.
struct DispatchCase {
  const char* name;
  std::vector<std::string> tags;
  std::vector<std::string> excludes;
  bool loop;
};
class DispatchTest : public testing::TestWithParam<DispatchCase> {
 protected:
  static bool Takes(const std::string& text) {
    // The one that ends first; the tags and excludes are not within each other.
    std::size_t end = std::string::npos;
    const std::string* first = nullptr;
    const auto look_at = [&](const std::vector<std::string>& strings) {
      for (const std::string& string : strings) {
        const std::size_t at = text.find(string);
        if (at == std::string::npos || at + string.size() >= end) continue;
        end = at + string.size();
        first = &string;
      }
    };
    look_at(GetParam().tags);
    look_at(GetParam().excludes);
    if (first == nullptr) return true;
    const auto& tags = GetParam().tags;
    if (std::find(tags.begin(), tags.end(), *first) == tags.end()) return false;
    if (text.substr(end, 1) != "!") return false;
    return GetParam().loop ? Takes(text.substr(end + 1)) : end + 1 == text.size();
  }
};

TEST_P(DispatchTest, IsFreeTextAndTags) {
  std::string grammar = "root ::= TagDispatch(";
  for (const std::string& tag : GetParam().tags) absl::StrAppend(&grammar, "(\"", tag, "\", r), ");
  absl::StrAppend(&grammar, "excludes=(");
  for (const std::string& exclude : GetParam().excludes)
    absl::StrAppend(&grammar, "\"", exclude, "\", ");
  absl::StrAppend(&grammar, "), loop_after_dispatch=", GetParam().loop ? "true" : "false",
                  ")\nr ::= \"!\"");
  const auto read = ReadForTest("ebnf", grammar);
  ASSERT_TRUE(read.ok()) << read.status() << grammar;
  IrRecognizer recognizer(read->ir);
  int taken = 0;
  for (const std::string& text : LetterTexts("ab!", 6)) {
    EXPECT_EQ(recognizer.Accepts(text), Takes(text)) << text;
    taken += Takes(text) ? 1 : 0;
  }
  EXPECT_GT(taken, 50);
}

INSTANTIATE_TEST_SUITE_P(Tags, DispatchTest,
                         testing::ValuesIn(std::vector<DispatchCase>{
                             {"One", {"ab"}, {}, true},
                             {"OnceOnly", {"ab"}, {}, false},
                             {"OneLetter", {"a"}, {}, true},
                             {"OverlapItself", {"aba"}, {}, true},
                             {"OverlapEachOther", {"aab", "bba"}, {}, true},
                             {"OverlapOnceOnly", {"aab", "bba"}, {}, false},
                             {"Exclude", {"ab"}, {"ba"}, true},
                             {"ExcludeOfALongEnd", {"aa"}, {"bba"}, true},
                             {"ExcludeWhatTheRuleHas", {"aa"}, {"b!"}, true},
                             {"OnlyAnExclude", {}, {"ab"}, true},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
