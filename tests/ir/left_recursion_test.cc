// Left recursion is written anew without a change of the language: by hand-made grammars whose
// result is known, and by random ones against the slow recogniser, which reads both.
#include "grammar_core/ir/passes/left_recursion.h"

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/productive.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

using B = IrBuilder&;
using Rules = std::vector<RuleId>;

// Every text of up to `length` letters of "ab".
std::vector<std::string> AllTexts(std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == length) continue;
    for (const char letter : {'a', 'b'}) texts.push_back(texts[i] + letter);
  }
  return texts;
}

GrammarIr WithoutLeftRecursion(const GrammarIr& ir) {
  Budget budget = Budget::Unlimited();
  absl::StatusOr<GrammarIr> written = RemoveLeftRecursion(ir, Limits(), budget);
  EXPECT_TRUE(written.ok()) << written.status();
  EXPECT_FALSE(*HasLeftRecursion(*written, budget)) << PrintIr(*written);
  return *std::move(written);
}

void ExpectSameLanguage(const GrammarIr& ir, const std::vector<std::string>& texts) {
  const GrammarIr written = WithoutLeftRecursion(ir);
  IrRecognizer before(ir);
  IrRecognizer after(written);
  for (const std::string& text : texts) {
    ASSERT_EQ(after.Accepts(text), before.Accepts(text)) << "\"" << text << "\"\n"
                                                         << PrintIr(ir) << "became\n"
                                                         << PrintIr(written);
  }
}

struct Case {
  const char* name;
  int rules;
  // Defines the rules "r0" to the last; the start is r0.
  std::function<void(B, const Rules&)> define;
  const char* written;
};

class LeftRecursionTest : public testing::TestWithParam<Case> {};

TEST_P(LeftRecursionTest, BecomesThis) {
  IrBuilder b{Limits()};
  Rules rules;
  for (int i = 0; i < GetParam().rules; ++i)
    rules.push_back(b.DeclareRule(absl::StrCat("r", i), absl::StrCat(i + 1, ":1")));
  GetParam().define(b, rules);
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rules[0]);
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(PrintIr(WithoutLeftRecursion(*ir)), GetParam().written);
  ExpectSameLanguage(*ir, AllTexts(7));
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, LeftRecursionTest,
    testing::ValuesIn(std::vector<Case>{
        {"None", 1,
         [](B b, const Rules& r) {
           b.DefineRule(r[0], b.Concat({b.Bytes("a"), b.Optional(b.Call(r[0]))}));
         },
         "start = r0\nr0 \"r0\" = (b\"a\" r0?)\n"},
        {"Direct", 1,
         [](B b, const Rules& r) {
           b.DefineRule(r[0], b.Alt({b.Concat({b.Call(r[0]), b.Bytes("ba")}), b.Bytes("a")}));
         },
         "start = r0\nr0 \"r0\" = (b\"a\" b\"ba\"*)\n"},
        {"Ambiguous", 1,
         [](B b, const Rules& r) {
           b.DefineRule(
               r[0], b.Alt({b.Concat({b.Call(r[0]), b.Bytes("b"), b.Call(r[0])}), b.Bytes("a")}));
         },
         "start = r0\nr0 \"r0\" = (b\"a\" (b\"b\" r0)*)\n"},
        {"Unit", 1,
         [](B b, const Rules& r) { b.DefineRule(r[0], b.Alt({b.Call(r[0]), b.Bytes("a")})); },
         "start = r0\nr0 \"r0\" = b\"a\"\n"},
        {"NullableCycle", 1,
         [](B b, const Rules& r) {
           b.DefineRule(
               r[0], b.Concat({b.Optional(b.Call(r[0])), b.Repeat(b.Bytes("b"), 0, kUnbounded)}));
         },
         "start = r0\nr0 \"r0\" = b\"b\"*\n"},
        {"Indirect", 3,
         [](B b, const Rules& r) {
           b.DefineRule(r[0], b.Alt({b.Concat({b.Call(r[1]), b.Bytes("a")}), b.Bytes("b")}));
           b.DefineRule(r[1], b.Concat({b.Call(r[2]), b.Bytes("b")}));
           b.DefineRule(r[2], b.Alt({b.Concat({b.Call(r[0]), b.Bytes("aa")}), b.Bytes("ab")}));
         },
         "start = r0\nr0 \"r0\" = ((b\"b\" | b\"abba\") b\"aaba\"*)\n"},
        {"HiddenBehindARule", 2,
         [](B b, const Rules& r) {
           b.DefineRule(
               r[0], b.Alt({b.Concat({b.Call(r[1]), b.Call(r[0]), b.Bytes("a")}), b.Bytes("b")}));
           b.DefineRule(r[1], b.Optional(b.Concat({b.Bytes("a"), b.Call(r[0])})));
         },
         "start = r0\nr0 \"r0\" = ((b\"b\" | (r1 r0 b\"a\")) b\"a\"*)\n"
         "r1 \"r1 not empty\" = (b\"a\" r0)\n"},
        {"HiddenBehindCharacters", 1,
         [](B b, const Rules& r) {
           const NodeId some = b.Repeat(b.AnyChar(), 0, 2);
           const NodeId prefix = b.Encode(Spelling::kUtf8, b.And({some, b.Not(b.Text("b"))}));
           b.DefineRule(r[0],
                        b.Alt({b.Concat({prefix, b.Call(r[0]), b.Bytes("b")}), b.Bytes("a")}));
         },
         "start = r0\nr0 \"r0\" = ((b\"a\" | (utf8<([\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}]{0,2} & "
         "!\"b\" & [\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}]+)> r0 b\"b\")) b\"b\"*)\n"},
        {"Tripled", 1,
         [](B b, const Rules& r) {
           const NodeId self = b.Call(r[0]);
           b.DefineRule(r[0], b.Alt({b.Concat({self, self, self}), b.Bytes("a"),
                                     b.Concat({self, b.Bytes("b")}),
                                     b.Concat({b.Bytes("b"), self, b.Bytes("ba")})}));
         },
         "start = r0\nr0 \"r0\" = (n0 n1 (n0 n1){2}*)\nn0 = (b\"a\" | (b\"b\" r0 b\"ba\"))\nn1 = "
         "b\"b\"*\n"},
        {"Doubled", 1,
         [](B b, const Rules& r) {
           const NodeId self = b.Call(r[0]);
           b.DefineRule(r[0], b.Alt({b.Concat({self, self, self}), b.Concat({self, self}),
                                     b.Bytes("a"), b.Empty()}));
         },
         "start = r0\nr0 \"r0\" = b\"a\"*\n"},
    }),
    [](const auto& test) { return test.param.name; });

class RandomGrammar {
 public:
  RandomGrammar(std::uint64_t seed, IrBuilder* b) : random_(seed), b_(*b) {}

  RuleId Define() {
    const int count = 1 + Below(5);
    for (int i = 0; i < count; ++i) rules_.push_back(b_.DeclareRule(absl::StrCat("r", i), ""));
    for (const RuleId rule : rules_) b_.DefineRule(rule, Node(3));
    return rules_[0];
  }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  NodeId Letter() { return b_.Bytes(Below(2) == 0 ? "a" : "b"); }

  NodeId Characters() {
    const NodeId text = b_.Text(Below(2) == 0 ? "a" : "ba");
    const NodeId some = b_.Repeat(b_.AnyChar(), 0, 2);
    switch (Below(3)) {
      case 0:
        return b_.Repeat(text, 0, 2);
      case 1:
        return b_.And({some, b_.Not(text)});
      default:
        return b_.Concat({b_.Optional(text), some});
    }
  }

  NodeId Node(int depth) {
    if (depth == 0) return Below(3) == 0 ? Letter() : b_.Call(rules_[Below(rules_.size())]);
    std::vector<NodeId> children;
    for (int i = 0; i < 2 + Below(2); ++i) children.push_back(Node(depth - 1 - Below(2) % depth));
    switch (Below(8)) {
      case 0:
      case 1:
      case 2:
        return b_.Concat(children);
      case 3:
      case 4:
        children.push_back(Letter());
        return b_.Alt(children);
      case 5:
        return b_.Repeat(children[0], Below(3), 2 + Below(2));
      case 6:
        return b_.Repeat(children[0], Below(2), kUnbounded);
      default:
        return Below(4) == 0 ? b_.Encode(Spelling::kUtf8, Characters()) : b_.Optional(children[0]);
    }
  }

  std::mt19937_64 random_;
  IrBuilder& b_;
  Rules rules_;
};

TEST(LeftRecursionRandomTest, KeepsTheLanguage) {
  constexpr std::uint64_t kGrammars = 500;
  const std::vector<std::string> texts = AllTexts(5);
  int recursive = 0;
  for (std::uint64_t seed = 0; seed < kGrammars && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    IrBuilder b{Limits()};
    const RuleId start = RandomGrammar(seed, &b).Define();
    Budget budget = Budget::Unlimited();
    const absl::StatusOr<GrammarIr> built = std::move(b).Build(start);
    ASSERT_TRUE(built.ok());
    const absl::StatusOr<GrammarIr> ir = DropUnproductive(*built, IrForm::kBuilt, Limits(), budget);
    if (!ir.ok() || !*HasLeftRecursion(*ir, budget)) continue;
    ++recursive;
    ExpectSameLanguage(*ir, texts);
  }
  EXPECT_GT(recursive, 150);
}

// The states of a finite automaton as rules that begin with each other: too dense to be solved by
// substitution.
TEST(LeftRecursionRandomTest, DenseGroups) {
  constexpr std::size_t kStates = 8;
  const std::vector<std::string> texts = AllTexts(6);
  int turned_round = 0;
  for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    IrBuilder b{Limits()};
    Rules rules;
    for (std::size_t i = 0; i < kStates; ++i)
      rules.push_back(b.DeclareRule(absl::StrCat("r", i), ""));
    for (const RuleId rule : rules) {
      std::vector<NodeId> ways;
      for (int i = 0; i < 5; ++i) {
        const NodeId from = b.Call(rules[random() % kStates]);
        const NodeId rest = random() % 4 == 0 ? b.Optional(b.Call(rules[random() % kStates]))
                                              : b.Bytes(random() % 2 == 0 ? "a" : "b");
        ways.push_back(b.Concat({from, rest}));
      }
      if (random() % 2 == 0) ways.push_back(b.Bytes(random() % 2 == 0 ? "ab" : "b"));
      b.DefineRule(rule, b.Alt(ways));
    }
    Budget budget = Budget::Unlimited();
    const absl::StatusOr<GrammarIr> ir =
        DropUnproductive(*std::move(b).Build(rules[0]), IrForm::kBuilt, Limits(), budget);
    if (!ir.ok()) continue;
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectSameLanguage(*ir, texts);
    turned_round += PrintIr(WithoutLeftRecursion(*ir)).find(" after ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(turned_round, 20);
}

// r0 begins with r1, r1 with r2, and so on, the last with r0.
GrammarIr LongCycle(std::size_t count) {
  IrBuilder b{Limits()};
  Rules rules;
  for (std::size_t i = 0; i < count; ++i) rules.push_back(b.DeclareRule("r", ""));
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId next = b.Call(rules[(i + 1) % count]);
    const NodeId body = b.Concat({next, b.Bytes("x"), b.Encode(Spelling::kUtf8, b.AnyChar())});
    b.DefineRule(rules[i], i == 0 ? b.Alt({body, b.Bytes("y")}) : body);
  }
  return *std::move(b).Build(rules[0]);
}

TEST(LeftRecursionSizeTest, LongCycleNeedsNeitherStackNorSquare) {
  Limits limits;
  limits.ir_nodes = 4'000'000;
  Budget budget = Budget::Unlimited();
  const absl::StatusOr<GrammarIr> ir = RemoveLeftRecursion(LongCycle(20'000), limits, budget);
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(ir->rules.size(), 1U);
}

TEST(LeftRecursionSizeTest, LimitAndBudgetHold) {
  const GrammarIr ir = LongCycle(20'000);
  Budget unlimited = Budget::Unlimited();
  Limits limits;
  limits.ir_nodes = 30'000;
  EXPECT_EQ(RemoveLeftRecursion(ir, limits, unlimited).status().code(),
            absl::StatusCode::kResourceExhausted);
  Budget::Bounds bounds;
  bounds.work = 100'000;
  Budget budget(bounds);
  const absl::Status status = RemoveLeftRecursion(ir, Limits(), budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("compile_work"), std::string::npos) << status;
}

}  // namespace
}  // namespace maskd
