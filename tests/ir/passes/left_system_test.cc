// Systems against their least solution, which is found by putting texts in until none is new.
#include "grammar_core/ir/passes/left_system.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/passes/left_recursion.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

constexpr std::size_t kLength = 6;

// One line: its plain texts, and what may follow each variable.
struct Line {
  std::vector<std::string> plain;
  std::vector<std::pair<std::uint32_t, std::vector<std::string>>> calls = {};
};
using Lines = std::vector<Line>;
using Solution = std::vector<std::set<std::string>>;

// The texts of each variable, of up to kLength letters.
Solution LeastSolution(const Lines& lines) {
  Solution texts(lines.size());
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::set<std::string> found(lines[i].plain.begin(), lines[i].plain.end());
      for (const auto& [variable, rests] : lines[i].calls)
        for (const std::string& text : texts[variable])
          for (const std::string& rest : rests) found.insert(text + rest);
      for (const std::string& text : found)
        grew |= text.size() <= kLength && texts[i].insert(text).second;
    }
  }
  return texts;
}

std::vector<std::string> AllTexts() {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < kLength; ++i)
    for (const char letter : {'a', 'b'}) texts.push_back(texts[i] + letter);
  return texts;
}

NodeId AnyOf(const std::vector<std::string>& texts, IrBuilder* b) {
  std::vector<NodeId> ways;
  for (const std::string& text : texts) ways.push_back(b->Bytes(text));
  return b->Alt(ways);
}

// A rule for each variable; `wanted`: called elsewhere too.
std::vector<LeftSystem::Equation> Equations(const Lines& lines, bool wanted, IrBuilder* b) {
  std::vector<LeftSystem::Equation> equations;
  for (RuleId i = 0; i < lines.size(); ++i) {
    LeftForm form = {AnyOf(lines[i].plain, b), {}};
    for (const auto& [variable, rests] : lines[i].calls) {
      const bool nullable = std::ranges::find(rests, "") != rests.end();
      form.calls.push_back({variable, {AnyOf(rests, b), nullable}});
    }
    const NodeId call = wanted ? b->Call(i) : b->Nothing();
    equations.push_back({std::move(form), absl::StrCat("r", i), "", call, false});
  }
  return equations;
}

// The grammar of all bodies, whose rules are numbered as the variables are.
GrammarIr Solved(const Lines& lines, bool wanted) {
  IrBuilder b{Limits()};
  Budget budget = Budget::Unlimited();
  for (std::size_t i = 0; i < lines.size(); ++i) b.DeclareRule(absl::StrCat("r", i), "");
  LeftSystem system(Equations(lines, wanted, &b), &b,
                    [](std::uint32_t variable) { return static_cast<RuleId>(variable); });
  EXPECT_TRUE(system.Reduce(budget).ok());
  for (std::uint32_t i = 0; i < lines.size(); ++i) b.DefineRule(i, system.Body(i));
  EXPECT_TRUE(system.DefineRules(budget).ok());
  return *std::move(b).Build(0);
}

void ExpectSolves(const Lines& lines, bool wanted) {
  GrammarIr ir = Solved(lines, wanted);
  Budget budget = Budget::Unlimited();
  EXPECT_FALSE(*HasLeftRecursion(ir, budget)) << PrintIr(ir);
  const Solution solution = LeastSolution(lines);
  for (RuleId i = 0; i < lines.size(); ++i) {
    ir.start = i;
    IrRecognizer recognizer(ir);
    for (const std::string& text : AllTexts())
      ASSERT_EQ(recognizer.Accepts(text), solution[i].contains(text)) << text << "\n"
                                                                      << PrintIr(ir);
  }
}

struct Case {
  const char* name;
  Lines lines;
};

class LeftSystemTest : public testing::TestWithParam<Case> {};

TEST_P(LeftSystemTest, BodiesAreTheLeastSolution) {
  for (const bool wanted : {false, true}) ExpectSolves(GetParam().lines, wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Systems, LeftSystemTest,
    testing::ValuesIn(std::vector<Case>{
        {"NoCalls", {{{"a", "bb"}}}},
        {"Loop", {{{"a"}, {{0, {"b", "ab"}}}}}},
        {"NoPlainText", {{{}, {{0, {"b"}}}}}},
        {"OnlyItself", {{{"a"}, {{0, {""}}}}}},
        {"Chain", {{{}, {{1, {"a"}}}}, {{}, {{2, {"b"}}}}, {{"ab"}, {{0, {"b"}}}}}},
        {"UnitCycle", {{{"a"}, {{1, {""}}}}, {{"b"}, {{0, {"", "a"}}}}}},
        {"TwoLoops", {{{"a"}, {{0, {"b"}}, {1, {"a"}}}}, {{"b"}, {{0, {"a"}}, {1, {"bb"}}}}}},
    }),
    [](const auto& test) { return test.param.name; });

// A: A A | A "b" | "a", where what follows is the rule itself.
TEST(LeftSystem, PowersOfARuleBecomeALoop) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r0", "");
  const NodeId self = b.Call(rule);
  const LeftForm form = {b.Bytes("a"), {{0, {b.Alt({self, b.Bytes("b")}), false}}}};
  LeftSystem system({{form, "r0", "", self, false}}, &b, [&](std::uint32_t) { return rule; });
  Budget budget = Budget::Unlimited();
  ASSERT_TRUE(system.Reduce(budget).ok());
  b.DefineRule(rule, system.Body(0));
  ASSERT_TRUE(system.DefineRules(budget).ok());
  const GrammarIr ir = *std::move(b).Build(rule);
  EXPECT_FALSE(*HasLeftRecursion(ir, budget)) << PrintIr(ir);
  IrRecognizer recognizer(ir);
  for (const std::string& text : AllTexts())
    EXPECT_EQ(recognizer.Accepts(text), !text.empty() && text[0] == 'a') << text << PrintIr(ir);
}

// Dense ones, too, which need rules of what follows another.
TEST(LeftSystem, RandomSystemsAreSolved) {
  const std::vector<std::string> rests = {"", "a", "b", "ab", "ba"};
  int turned_round = 0;
  for (std::uint64_t seed = 0; seed < 120 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Lines lines(2 + random() % 7);
    for (Line& line : lines) {
      if (random() % 2 == 0) line.plain.push_back(rests[1 + random() % 4]);
      for (std::uint32_t variable = 0; variable < lines.size(); ++variable)
        if (random() % 3 > 0) line.calls.push_back({variable, {rests[random() % 5]}});
    }
    ExpectSolves(lines, seed % 2 == 0);
    const std::string printed = PrintIr(Solved(lines, seed % 2 == 0));
    turned_round += printed.find(" after ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(turned_round, 20);
}

TEST(LeftSystem, TheBudgetHolds) {
  IrBuilder b{Limits()};
  b.DeclareRule("r0", "");
  const Lines lines = {{{"a"}, {{0, {"b"}}}}};
  LeftSystem system(Equations(lines, true, &b), &b, [](std::uint32_t) { return RuleId{0}; });
  Budget spent(Budget::Bounds{.work = 0});
  EXPECT_EQ(system.Reduce(spent).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
