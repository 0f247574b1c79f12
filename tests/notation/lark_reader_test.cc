// Whole grammars of Lark: definitions and directives, and what any text leads to.
#include "grammar_core/frontend/lark/lark_reader.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/lark/lark.h"
#include "tests/notation/broken_grammars.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

constexpr char kEveryConstruct[] = R"(// é
%import common (INT, WS)
%import common.WORD -> W
%llguidance {"allow_initial_skip": true}
%ignore WS | "--"
?start.2: a [b] | c{"x", W}+ -> d
  | r::0x3 ~ 2..3 "\u00e9"i /a\/b|[\/x]/s
a: "<" ~"x" ">"
b[capture="q"]: /[^;]*/
c{x, y}: x (y "," x)*
r::_: "0" %if is_zeros(_) | "1" r::decr([0:2]) %if not(eq(_, 0))
m[max_chars=4]: "a".."é" ("z")?
o[temperature=0.5]: "o"
n[max_tokens=3]: "k"{,2} <[1,3-4]> <|t|>
A.1: "p" & ~(INT | "q"){1,2}
%extend A: "ext"
%override m: %json {"type": ["null"], "foo": 1} %regex {"substring_chars": "ab"}
!n2: %lark { start: "z" \
 | u
 u: "}" } "w"
)";

constexpr char kEveryLazyRule[] = R"(
start: (a "1" | T | b <[2]>)*
a[lazy]: T "<" # one
b[suffix=/;/, capture="q"]: /[^;]*/
T: /(.|\n)*/
%ignore " "
)";

TEST(LarkReaderTest, AnyTextIsReadOrRefusedAtAPlaceInIt) {
  for (const std::string grammar : {kEveryConstruct, kEveryLazyRule}) {
    const std::vector<std::string> broken = BrokenGrammars(grammar, 2000);
    EXPECT_GT(ExpectPlacesInTheText(&ReadLark, broken), 50);
    EXPECT_EQ(ExpectPlacesInTheText(&ReadLark, {grammar}), 1);
  }
}

struct WholeCase {
  const char* name;
  std::string text;
  std::string message;  // its beginning
};
class BadLarkGrammarTest : public testing::TestWithParam<WholeCase> {};

TEST_P(BadLarkGrammarTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const GrammarOptions options;
  const absl::Status status = LarkReader(options, 0, &text.reading).Read().status();
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, BadLarkGrammarTest,
    testing::ValuesIn(std::vector<WholeCase>{
        {"Nothing", "\n # c", "1:1: there is no rule \"start\""},
        {"StartInUpperCase", "START: \"a\"", "1:1: there is no rule \"start\""},
        {"StartWithAnIndex", "start::_: \"a\"", "1:1: the rule \"start\" takes no parameters"},
        {"TwoInALine", "a: \"a\" } start: a", "1:8: expected the end of the line, found '}'"},
        {"DirectiveAndMore", "%import common.INT x", "1:20: expected the end of the line"},
        {"Directive", "%", "1:1: expected %ignore"},
        {"DirectiveInUpperCase", "%IGNORE \"a\"", "1:1: expected %ignore"},
        {"Ignore", "%ignore", "1:1: there is no rule"},
        {"IgnoreAToken", "%ignore <[1]>", "1:9: a terminal holds characters only"},
        {"ImportNothing", "%import", "1:8: expected the name of a module"},
        {"ImportAModule", "%import common", "1:15: expected '.' and a name, or '('"},
        {"ImportNoName", "%import common.", "1:16: expected a name"},
        {"ImportNoNames", "%import common ()", "1:17: expected a name"},
        {"ImportNamesWithoutEnd", "%import common (INT", "1:20: expected ',' or ')'"},
        {"ImportASecondName", "%import common.INT -> ", "1:23: expected a name"},
        {"ImportTwoOfOneName", "%import common.INT -> A\n%import common.WS -> A",
         "2:16: \"A\" is defined already, at 1:16"},
        {"ImportRelative", "%import .a.B", "1:9: %import from files"},
        {"ImportUnicode", "%import unicode.A", "1:9: %import from unicode"},
        {"Declare", "%declare A", "1:1: %declare"},
        {"NoColon", "start", "1:6: expected ':', found the end"},
        {"SpaceBehindAModifier", "? start: \"a\"", "1:2: expected a rule, a terminal"},
        {"ModifierThrice", "?!?start: \"a\"", "1:3: expected a rule, a terminal"},
        {"ModifiedTerminal", "!A: \"a\"", "1:1: '!' and '?' stand before rules only"},
        {"Priority", "start.x: \"a\"", "1:7: expected a priority: a number, found 'x'"},
        {"PriorityOfASign", "start.-: \"a\"", "1:8: expected a priority: a number, found ':'"},
        {"IndexOfATerminal", "A::_: \"a\"", "1:4: expected '_' behind a rule's '::'"},
        {"IndexWithAName", "a::x: \"a\"", "1:4: expected '_' behind a rule's '::'"},
        {"NoParameters", "a{}: \"a\"", "1:3: expected a parameter, found '}'"},
        {"ParametersWithoutEnd", "a{x: x", "1:4: expected ',' or '}', found ':'"},
        {"AttributesOfATerminal", "A[lazy]: \"a\"", "1:2: expected ':', found '['"},
        {"ExtendNothing", "%extend a: \"a\"", "1:9: \"a\" is not defined before"},
        {"ExtendWithAttributes", "a: \"a\"\n%extend a[lazy]: \"b\"",
         "2:9: %extend with parameters or attributes"},
        {"ExtendAnImportOfAnotherName", "%import common.INT -> A\n%extend INT: \"b\"",
         "2:9: \"INT\" is not defined before"},
        {"DefinedTwiceBehindAnOverride", "a: \"a\"\n%override a: \"b\"\na: \"c\"",
         "3:1: \"a\" is defined already, at 2:11"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LarkReaderTest, AGrammarInBracesEndsWithItsBrace) {
  TextInReading text("\n start: \"}\" # }\n }| x");
  const GrammarOptions options;
  const absl::StatusOr<RuleId> start = LarkReader(options, 8, &text.reading).Read();
  ASSERT_TRUE(start.ok()) << start.status();
  EXPECT_EQ(text.Rest(), "| x");
  EXPECT_EQ(text.reading.builder.ir().rules[*start].place, "2:2");
}

TEST(LarkReaderTest, WhatIsIgnoredIsTooLargeWhereItIsSaid) {
  Limits limits;
  limits.ir_nodes = 5000;
  TextInReading text(absl::StrCat("start: \"a\"\n%ignore B B B\nB: \"", std::string(999, 'x'),
                                  "\"\n%ignore B B B\n"),
                     limits);
  const GrammarOptions options;
  EXPECT_EQ(LarkReader(options, 0, &text.reading).Read().status().message(),
            "2:1: limit ir_nodes is 5000, 5994 needed");
}

TEST(LarkReaderTest, TheTextsTemperatureIsThatOfItsFirstRule) {
  TextInReading text(
      "a[temperature=1]: \"a\"\nstart[temperature=0.5]: %lark {\n"
      "start[temperature=2]: \"b\" }");
  const GrammarOptions options;
  ASSERT_TRUE(LarkReader(options, 0, &text.reading).Read().ok());
  EXPECT_EQ(text.reading.temperature, 0.5F);
  std::vector<std::string> places;
  for (const Diagnostic& warning : text.reading.warnings) places.push_back(warning.place);
  EXPECT_EQ(places, (std::vector<std::string>{"1:2", "3:6"}));
}

}  // namespace
}  // namespace maskd
