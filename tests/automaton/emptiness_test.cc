// What holds no string is found before the automaton is made: random characters against machines
// made the way of textbooks, and what becomes of it in a grammar.
#include "grammar_core/derivatives/emptiness.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/productive.h"
#include "tests/oracle/character_machine.h"
#include "tests/oracle/random_characters.h"

namespace maskd {
namespace {

// A grammar of one rule.
GrammarIr Grammar(IrBuilder& b, NodeId body) {
  const RuleId rule = b.DeclareRule("start", "1:1");
  b.DefineRule(rule, body);
  return *std::move(b).Build(rule);
}

// The grammar after both passes, printed; or the error.
std::string Normalised(GrammarIr ir, const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  const absl::StatusOr<IrForm> form = DropEmpty(limits, budget, &ir);
  if (!form.ok()) return std::string(form.status().message());
  const absl::StatusOr<GrammarIr> kept = DropUnproductive(ir, *form, limits, budget);
  return kept.ok() ? PrintIr(*kept) : std::string(kept.status().message());
}

NodeId AnyText(IrBuilder& b) { return b.Repeat(b.AnyChar(), 0, kUnbounded); }

// "ab" and three characters at least.
NodeId EmptyAnd(IrBuilder& b) {
  return b.And({b.Text("ab"), b.Repeat(b.AnyChar(), 3, kUnbounded)});
}

TEST(EmptinessTest, RandomCharacters) {
  int empty = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    IrBuilder b{Limits()};
    const NodeId characters = RandomCharacters(4, &random, &b);
    GrammarIr ir = Grammar(b, b.Encode(Spelling::kUtf8, characters));
    const auto machine = CharacterMachine::Of(ir, characters);
    if (!machine.has_value()) continue;
    Budget budget = Budget::Unlimited();
    const absl::StatusOr<IrForm> form = DropEmpty(Limits(), budget, &ir);
    ASSERT_TRUE(form.ok());
    const bool productive = DropUnproductive(ir, *form, Limits(), budget).ok();
    empty += productive ? 0 : 1;
    ASSERT_EQ(productive, !machine->IsNothing()) << "seed " << seed << "\n" << PrintIr(ir);
  }
  EXPECT_GT(empty, 30);
}

TEST(EmptinessTest, StartIsAnErrorAtItsPlace) {
  IrBuilder b{Limits()};
  EXPECT_EQ(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, EmptyAnd(b)))),
            "1:1: no text satisfies this grammar");
}

TEST(EmptinessTest, AlternativeIsDropped) {
  IrBuilder b{Limits()};
  const NodeId dead = b.Concat({b.Bytes("x"), b.Encode(Spelling::kUtf8, EmptyAnd(b))});
  EXPECT_EQ(Normalised(Grammar(b, b.Alt({dead, b.Bytes("yz")}))),
            "start = r0\nr0 \"start\" = b\"yz\"\n");
}

TEST(EmptinessTest, ComplementOfEverythingSpelledOut) {
  IrBuilder b{Limits()};
  const NodeId all = b.Alt({b.Empty(), b.Concat({b.AnyChar(), AnyText(b)})});
  EXPECT_EQ(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, b.Not(all)))),
            "1:1: no text satisfies this grammar");
}

TEST(EmptinessTest, PartOfAnotherOneIsLeftToIt) {
  IrBuilder b{Limits()};
  const NodeId all = b.Not(EmptyAnd(b));
  EXPECT_NE(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, all))),
            "1:1: no text satisfies this grammar");
}

TEST(EmptinessTest, OptionalMemberBecomesAForbiddenName) {
  IrBuilder b{Limits()};
  ObjectSpec spec;
  spec.members = {{"a", b.Encode(Spelling::kJsonString, EmptyAnd(b)), false}};
  spec.space = b.Empty();
  spec.any_order = false;
  EXPECT_EQ(Normalised(Grammar(b, b.Object(std::move(spec)))),
            "start = r0\nr0 \"start\" = object{\"a\": nothing, space empty}\n");
}

// Only declared names match: a comma after them would be a dead end.
TEST(EmptinessTest, OthersWithoutANameAreNone) {
  IrBuilder b{Limits()};
  ObjectSpec spec;
  spec.members = {{"a", b.Bytes("1"), false}, {"b", b.Bytes("1"), false}};
  spec.others = {{b.TextSet({"a", "b"}), b.Bytes("2")}, {b.TextSet({"a", "c"}), b.Bytes("3")}};
  spec.space = b.Empty();
  spec.any_order = false;
  EXPECT_EQ(Normalised(Grammar(b, b.Object(std::move(spec)))),
            "start = r0\nr0 \"start\" = object{\"a\": b\"1\", \"b\": b\"1\", other [ac]: b\"3\", "
            "space empty}\n");
}

// A code looked for six times, before an end, and a length: what the code needs leads the search,
// not the length.
std::vector<NodeId> FarPatterns(IrBuilder& b) {
  const NodeId any = AnyText(b);
  const NodeId letter_digit = b.Concat({b.Chars(CharSet({{'a', 'z'}})),  //
                                        b.Chars(CharSet({{'0', '9'}}))});
  const NodeId code = b.Concat({b.Text("c1d3g3"), b.Repeat(b.AnyChar(), 4, 8)});
  const NodeId end = b.Chars(CharSet({{'8', '8'}, {'t', 't'}}));
  return {b.Repeat(letter_digit, 1, kUnbounded), b.Concat({any, b.Repeat(code, 6, 6), any}),
          b.Concat({any, b.Repeat(end, 10, 10)})};
}

TEST(EmptinessTest, PatternsThatAreFarApartHoldTogether) {
  Limits limits;
  limits.emptiness_states = 2'000;
  for (const std::uint32_t most : {kUnbounded, 104U}) {
    IrBuilder b{Limits()};
    std::vector<NodeId> parts = FarPatterns(b);
    parts.push_back(b.Repeat(b.AnyChar(), 100, most));
    EXPECT_EQ(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, b.And(std::move(parts)))), limits)
                  .substr(0, 8),
              "start = ");
  }
}

// It is searched by recursion, so it must not be deep.
TEST(EmptinessTest, IntersectionsWithinChoicesWithoutEndAreRefused) {
  IrBuilder b{Limits()};
  NodeId text = b.Text("a");
  for (int i = 0; i < 50'000; ++i) {
    const NodeId letters = b.Repeat(b.Chars(CharSet({{'a', 'z'}})), 1 + i % 3, kUnbounded);
    text = b.And({letters, b.Alt({b.Text(i % 2 == 0 ? "xy" : "yx"), text})});
  }
  EXPECT_THAT(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, text))),
              testing::HasSubstr("limit derivative_depth is 2000"));
}

TEST(EmptinessTest, APatternAndItsComplementAreNothing) {
  Limits limits;
  limits.emptiness_states = 10;
  IrBuilder b{Limits()};
  std::vector<NodeId> parts = FarPatterns(b);
  parts.push_back(b.Not(parts[1]));
  EXPECT_EQ(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, b.And(std::move(parts)))), limits),
            "1:1: no text satisfies this grammar");
}

TEST(EmptinessTest, LimitHasItsPlace) {
  IrBuilder b{Limits()};
  // Both ends of the text differ from each other for long.
  const NodeId any = AnyText(b);
  const NodeId ends_in = b.Concat({any, b.Text("a"), b.Repeat(b.AnyChar(), 14, 14)});
  const NodeId other = b.Concat({any, b.Text("b"), b.Repeat(b.AnyChar(), 14, 14)});
  Limits limits;
  limits.emptiness_states = 50;
  EXPECT_EQ(Normalised(Grammar(b, b.Encode(Spelling::kUtf8, b.And({ends_in, other}))), limits),
            "1:1: limit emptiness_states is 50, 51 needed");
}

TEST(EmptinessTest, BudgetHolds) {
  IrBuilder b{Limits()};
  GrammarIr ir =
      Grammar(b, b.Encode(Spelling::kUtf8, b.And({b.Repeat(b.Text("ab"), 900, 900),
                                                  b.Repeat(b.AnyChar(), 1900, kUnbounded)})));
  Budget::Bounds bounds;
  bounds.work = 600;
  Budget budget(bounds);
  const absl::Status status = DropEmpty(Limits(), budget, &ir).status();
  EXPECT_NE(status.message().find("compile_work"), std::string::npos) << status;
}

}  // namespace
}  // namespace maskd
