// Arguments of EBNF's macros: all kinds of values, and where errors are.
#include "grammar_core/frontend/ebnf/macro_arguments.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

std::string Shown(const MacroValue& value) {
  const std::string at = absl::StrCat("@", value.at);
  std::vector<std::string> elements;
  switch (value.kind) {
    case MacroValue::Kind::kText:
      return absl::StrCat("\"", value.text, "\"", at);
    case MacroValue::Kind::kNumber:
      return absl::StrCat(value.number, at);
    case MacroValue::Kind::kTruth:
      return absl::StrCat(value.number != 0 ? "yes" : "no", at);
    case MacroValue::Kind::kName:
      return value.text + at;
    case MacroValue::Kind::kTuple:
      for (const MacroValue& element : value.elements) elements.push_back(Shown(element));
      return absl::StrCat("(", absl::StrJoin(elements, " "), ")", at);
  }
  return "?";
}

struct ArgumentsCase {
  const char* name;
  std::string text;
  std::string shown;
};
class MacroArgumentsTest : public testing::TestWithParam<ArgumentsCase> {};

TEST_P(MacroArgumentsTest, AreReadInOrder) {
  TextInReading text(GetParam().text + " rest");
  const absl::StatusOr<std::vector<MacroArgument>> arguments = ReadMacroArguments(text.reading);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  std::vector<std::string> shown;
  for (const MacroArgument& argument : *arguments)
    shown.push_back(
        absl::StrCat(argument.name.empty() ? "" : argument.name + "=", Shown(argument.value)));
  EXPECT_EQ(absl::StrJoin(shown, " "), GetParam().shown);
  EXPECT_EQ(text.Rest(), " rest");
}

INSTANTIATE_TEST_SUITE_P(Texts, MacroArgumentsTest,
                         testing::ValuesIn(std::vector<ArgumentsCase>{
                             {"None", " ( )", ""},
                             {"Kinds", R"(("é\"\x41",12,true,false,rule-1.b))",
                              "\"é\"A\"@1 12@12 yes@15 no@20 rule-1.b@26"},
                             {"Names", "(a=1, b = \"\" ,c=d)", "a=1@3 b=\"\"@10 c=d@16"},
                             {"Tuples", "((), (1,), (\"a\", b , 3), x=(true))",
                              "()@1 (1@6)@5 (\"a\"@12 b@17 3@21)@11 x=(yes@28)@27"},
                             {"LinesAndComments",
                              "# one (\n(# two )\n 1 # three \"\n,\r\n# four\r 2\n)", "1@18 2@41"},
                             {"NoCommentInText", "(\"a # b\")", "\"a # b\"@1"},
                             {"WordsThatBeginAsTruths", "(truer, false-1)", "truer@1 false-1@8"},
                             {"GreatestId", "(4294967295, 007)", "4294967295@1 7@13"},
                             {"OneNameInTwoTuples", "((a), (a), a)", "(a@2)@1 (a@7)@6 a@11"},
                         }),
                         [](const auto& test) { return test.param.name; });

struct BadArguments {
  const char* name;
  std::string text;
  std::string message;  // its beginning
};
class BadMacroArgumentsTest : public testing::TestWithParam<BadArguments> {};

TEST_P(BadMacroArgumentsTest, SayWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadMacroArguments(text.reading).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadMacroArgumentsTest,
    testing::ValuesIn(std::vector<BadArguments>{
        {"NoBracket", " a", "1:2: expected '(' and the arguments of the macro, found 'a'"},
        {"NoEnd", "(1", "1:3: expected ',' or ')', found the end of the grammar"},
        {"OnlyBegun", "(",
         "1:2: expected a value: text in quotes, a number, true, false or a rule"},
        {"CommaFirst", "(,1)", "1:2: expected a value"},
        {"CommaLast", "(1,)", "1:4: expected a value"},
        {"NoComma", "(1 2)", "1:4: expected ',' or ')', found '2'"},
        {"NumberAndLetters", "(1a)", "1:3: expected ',' or ')', found 'a'"},
        {"Id", "(4294967296)", "1:2: the id of a token is at most 4294967295"},
        {"TextWithoutEnd", "(\"a)", "1:2: the literal has no end"},
        {"TextOnTwoLines", "(\"a\nb\")", "1:2: the literal has no end"},
        {"TupleWithoutEnd", "((1,", "1:5: expected a value"},
        {"TupleWithoutACommaBetween", "((1 2))", "1:5: expected ',' or ')', found '2'"},
        {"TupleOfCommas", "((,))", "1:3: expected a value"},
        {"TupleInATuple", "(((1)))", "1:3: expected a value"},
        {"NamedInATuple", "((a=1))", "1:4: expected ',' or ')', found '='"},
        {"NameOfNothing", "(a=)", "1:4: expected a value"},
        {"NameOfAName", "(a=b=1)", "1:5: expected ',' or ')', found '='"},
        {"NumberAsAName", "(1=2)", "1:3: expected ',' or ')', found '='"},
        {"NameTwice", "(a=1, b=2,\n a=1)", "2:2: the argument stands before"},
        {"TruthAsAName", "(true=1)", "1:6: expected ',' or ')', found '='"},
        {"Sign", "(+1)", "1:2: expected a value"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
