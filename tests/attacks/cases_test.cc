// What a case of the attack set says, how it is corrected, and how its result is counted.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "tools/attack/cases/attack_case.h"
#include "tools/attack/cases/case_result.h"
#include "tools/attack/cases/corrections.h"
#include "tools/attack/cases/report.h"
#include "tools/attack/cases/text_expression.h"

namespace maskd::attack {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Expression {
  const char* name;
  const char* json;
  const char* text;
};

class TextExpressionTest : public testing::TestWithParam<Expression> {};

TEST_P(TextExpressionTest, StandsForItsBytes) {
  EXPECT_EQ(ExpandText(json::parse(GetParam().json)).value(), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, TextExpressionTest,
    testing::ValuesIn(std::vector<Expression>{
        {"Literal", R"("ab")", "ab"},
        {"List", R"(["a", ["b"], "c"])", "abc"},
        {"Hex", R"({"hex": "c0aF"})", "\xC0\xAF"},
        {"Repeat", R"({"repeat": "ab", "n": 3})", "ababab"},
        {"RepeatNever", R"({"repeat": "ab", "n": 0})", ""},
        {"Each", R"({"each": "<${i}>", "to": 3, "sep": ","})", "<0>,<1>,<2>"},
        {"EachFrom", R"({"each": "${i}", "from": 2, "to": 4})", "23"},
        {"Sums", R"({"each": "${i+1}${i-1} ", "from": 1, "to": 3})", "20 31 "},
        {"Nested", R"({"each": {"each": "${i}${j} ", "to": 2, "var": "j"}, "to": 2})",
         "00 01 10 11 "},
        {"CountOfAVariable",
         R"({"each": {"repeat": "x", "n": "${i}"}, "from": 1, "to": 4, "sep": " "})", "x xx xxx"},
        {"LonelyOpening", R"({"each": "${i", "to": 2})", "${i${i"},
        {"OpeningOfAnother", R"({"each": "${index}", "to": 1})", "${index}"},
    }),
    [](const auto& test) { return test.param.name; });

class NoTextExpressionTest : public testing::TestWithParam<Expression> {};

TEST_P(NoTextExpressionTest, IsRefusedWithWords) {
  const auto text = ExpandText(json::parse(GetParam().json));
  EXPECT_TRUE(absl::IsInvalidArgument(text.status())) << text.status();
  EXPECT_THAT(std::string(text.status().message()), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Expressions, NoTextExpressionTest,
                         testing::ValuesIn(std::vector<Expression>{
                             {"Number", "1", "not a text expression"},
                             {"OtherObject", R"({"what": "a"})", "not a text expression"},
                             {"NoCount", R"({"repeat": "a"})", "'n' not found"},
                             {"WrongCount", R"({"repeat": "a", "n": "many"})", "not a number"},
                             {"NoEnd", R"({"each": "a"})", "'to' not found"},
                             {"NoAlphabet", R"({"random": "", "n": 1})", "no alphabet"},
                             {"NoHex", R"({"hex": "c"})", "not hexadecimal"},
                             {"NoHexDigits", R"({"hex": "zz"})", "not hexadecimal"},
                             {"HexOfANumber", R"({"hex": 12})", "must be string"},
                         }),
                         [](const auto& test) { return test.param.name; });

// Computed apart from this code, by Vigna's splitmix64.c with state 0: its first three numbers.
TEST(TextExpression, RandomLettersAreThoseOfSplitMix) {
  const std::vector<std::uint64_t> numbers = {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4,
                                              0x06C45D188009454F};
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz";
  std::string expected;
  for (const std::uint64_t number : numbers) expected += alphabet[number % alphabet.size()];
  EXPECT_EQ(ExpandText({{"random", alphabet}, {"n", 3}, {"seed", 0}}).value(), expected);
}

// A file of one line.
class CaseFileTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<AttackCase>> Read(const std::string& line) {
    const std::string path = absl::StrCat(testing::TempDir(), "family_of_a_test.jsonl");
    std::ofstream(path) << "\n" << line << "\n";
    return ReadAttackCases(path);
  }
};

TEST_F(CaseFileTest, FieldsAreReadAndTextsExpanded) {
  const auto cases = Read(
      R"({"id": "x", "kind": "k", "format": "regex", "recipe": {"repeat": "a", "n": 2}, "expected": "ok", "may_refuse": true, "accept": ["a", {"repeat": "b", "n": 2}], "reject": [""], "codes": ["UNIMPLEMENTED"], "needs": ["special_tokens"], "budget": {"ms": 5, "mib": 7}})");
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 1U);
  const AttackCase& attack = cases->front();
  EXPECT_EQ(attack.id, "x");
  EXPECT_EQ(attack.family, "family_of_a_test");
  EXPECT_FALSE(attack.must_be_refused);
  EXPECT_TRUE(attack.may_be_refused);
  EXPECT_TRUE(attack.needs_special_tokens);
  EXPECT_FALSE(attack.is_of_a_server());
  EXPECT_THAT(attack.accept, ElementsAre("a", "bb"));
  EXPECT_THAT(attack.reject, ElementsAre(""));
  EXPECT_EQ(attack.Payload().value(), "aa");
  EXPECT_EQ(attack.budget_ms, 5);
  EXPECT_EQ(attack.budget_mib, 7);
  EXPECT_EQ(attack.correction, "");
}

TEST_F(CaseFileTest, AWrongLineIsNamed) {
  const char* const lines[] = {
      "{", "[]", R"({"id": "x"})",
      R"({"id": "x", "kind": "k", "format": "regex", "expected": "ok", "accept": [1], "budget": {"ms": 1, "mib": 1}})",
      R"({"id": "x", "kind": "k", "format": "service", "steps": [{"no": "op"}], "expected": "ok", "budget": {"ms": 1, "mib": 1}})"};
  for (const char* line : lines) {
    const auto cases = Read(line);
    EXPECT_TRUE(absl::IsInvalidArgument(cases.status())) << line << ": " << cases.status();
    EXPECT_THAT(std::string(cases.status().message()), HasSubstr("family_of_a_test.jsonl:2: "));
  }
  EXPECT_TRUE(absl::IsNotFound(ReadAttackCases("/nowhere/a.jsonl").status()));
}

TEST(Corrections, TokensAfterTheEndAreRight) {
  json attack = {{"id", "matcher-token-after-end"},
                 {"steps",
                  {{{"op", "accept_token"}, {"ok", false}},
                   {{"op", "end"}},
                   {{"op", "accept_token"}, {"ok", false}},
                   {{"op", "rollback"}, {"ok", false}}}}};
  EXPECT_THAT(Correct(&attack), HasSubstr("after the end"));
  EXPECT_FALSE(attack["steps"][0]["ok"]) << "before the end";
  EXPECT_TRUE(attack["steps"][2]["ok"]);
  EXPECT_FALSE(attack["steps"][3]["ok"]) << "takes nothing";
}

TEST(Corrections, AFieldThatIsNotKnownIsRefusedByName) {
  json attack = {{"id", "wire-unknown-fields"}, {"steps", {{{"op", "x"}, {"want", "OK"}}}}};
  EXPECT_THAT(Correct(&attack), HasSubstr("by name"));
  EXPECT_EQ(attack["expected"], "error");
  EXPECT_EQ(attack["steps"][0]["want"], "UNIMPLEMENTED");
}

TEST(Corrections, OtherCasesStayAsTheyAre) {
  json attack = {{"id", "another"}, {"steps", {{{"op", "end"}}}}};
  const json before = attack;
  EXPECT_EQ(Correct(&attack), "");
  EXPECT_EQ(attack, before);
}

AttackCase CaseOf(const std::string& id) {
  AttackCase attack;
  attack.id = id;
  attack.family = "f";
  attack.budget_ms = 100;
  attack.budget_mib = 10;
  return attack;
}

TEST(Report, SaysEachFaultAndDoesNotPass) {
  struct Row {
    CaseResult result;
    std::string said;
  };
  const std::vector<Row> rows = {
      {{.faults = {"bad answer"}}, "x: bad answer\n"},
      {{.missing_operations = {"jump"}}, "x: NOT RUN: there is no operation jump\n"},
      {{.wall_ms = 101}, "x: late: 101 ms of 100\n"},
      {{.growth_mib = 11}, "x: grew by 11 MiB of 10\n"},
  };
  for (const Row& row : rows) {
    Report report(CaseClock::kWall, {});
    EXPECT_EQ(report.Add(CaseOf("y"), {}), "");
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.Add(CaseOf("x"), row.result), row.said);
    EXPECT_FALSE(report.passed()) << row.said;
  }
}

TEST(Report, TimeIsThatOfItsClock) {
  const CaseResult result = {.wall_ms = 101, .cpu_ms = 99};
  Report cpu(CaseClock::kCpu, {});
  EXPECT_EQ(cpu.Add(CaseOf("x"), result), "");
  Report none(CaseClock::kNone, {});
  EXPECT_EQ(none.Add(CaseOf("x"), {.wall_ms = 1e9}), "");
}

TEST(Report, KnownAndAbsentCasesAreCountedApart) {
  Report report(CaseClock::kWall, {{"known", "a reason"}, {"mended", "a reason"}});
  EXPECT_FALSE(report.passed()) << "nothing was run";
  EXPECT_EQ(report.Add(CaseOf("known"), {.faults = {"bad"}}), "known: known, a reason: bad\n");
  EXPECT_THAT(report.Add(CaseOf("mended"), {}), HasSubstr("and passes"));
  EXPECT_EQ(report.Add(CaseOf("tls"), {.absent = "TLS"}), "tls: absent: TLS\n");
  EXPECT_FALSE(report.passed()) << "nothing but known and absent ones";
  AttackCase corrected = CaseOf("c");
  corrected.correction = "a promise";
  EXPECT_EQ(report.Add(corrected, {.refused = true, .wall_ms = 3}), "c: corrected: a promise\n");
  EXPECT_TRUE(report.passed());
  EXPECT_THAT(report.Table(), HasSubstr("| all | 4 | 1 | 1 | 0 | 0 | 0 | 0 | 2 | 1 | 1 | 3 | 0 |"));
}

}  // namespace
}  // namespace maskd::attack
