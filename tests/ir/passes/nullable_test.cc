#include "grammar_core/ir/passes/nullable.h"

#include <functional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using B = IrBuilder&;

struct Case {
  const char* name;
  // The body of the start, which is `self`; `some` has no empty text, `maybe` has one.
  std::function<NodeId(B, NodeId self, NodeId some, NodeId maybe)> make;
  bool nullable;
};

class NullableTest : public testing::TestWithParam<Case> {};

TEST_P(NullableTest, HoldsTheEmptyText) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const RuleId some = b.DeclareRule("some", "");
  const RuleId maybe = b.DeclareRule("maybe", "");
  b.DefineRule(some, b.Bytes("s"));
  b.DefineRule(maybe, b.Optional(b.Concat({b.Call(maybe), b.Bytes("m")})));
  b.DefineRule(start, GetParam().make(b, b.Call(start), b.Call(some), b.Call(maybe)));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  const std::vector<bool> nullable = *NullableNodes(ir, budget);
  ASSERT_EQ(nullable.size(), ir.nodes.size());
  const std::vector<bool> perhaps = *PerhapsNullableNodes(ir, budget);
  for (NodeId node = 0; node < ir.nodes.size(); ++node)
    EXPECT_TRUE(perhaps[node] || !nullable[node]) << node << " of " << PrintIr(ir);
  EXPECT_FALSE(perhaps[ir.rules[some].body]);
  EXPECT_EQ(nullable[ir.rules[start].body], GetParam().nullable) << PrintIr(ir);
  EXPECT_FALSE(nullable[ir.rules[some].body]);
  EXPECT_TRUE(nullable[ir.rules[maybe].body]);
}

NodeId Utf8(B b, NodeId characters) { return b.Encode(Spelling::kUtf8, characters); }
NodeId Any(B b, std::uint32_t min) { return b.Repeat(b.AnyChar(), min, kUnbounded); }

INSTANTIATE_TEST_SUITE_P(
    Nodes, NullableTest,
    testing::ValuesIn(std::vector<Case>{
        {"Nothing", [](B b, NodeId, NodeId, NodeId) { return b.Nothing(); }, false},
        {"Empty", [](B b, NodeId, NodeId, NodeId) { return b.Empty(); }, true},
        {"Bytes", [](B b, NodeId, NodeId, NodeId) { return b.Bytes("a"); }, false},
        {"Number", [](B b, NodeId, NodeId, NodeId) { return b.Number({}); }, false},
        {"Object", [](B b, NodeId, NodeId, NodeId) { return b.Object({{}, {}, b.Empty(), false}); },
         false},
        {"Break", [](B b, NodeId, NodeId, NodeId) { return b.Break(0); }, false},
        {"BlockOfEmpty", [](B b, NodeId, NodeId, NodeId) { return b.Block('[', b.Empty(), 2); },
         false},
        {"ConcatOfBoth",
         [](B b, NodeId, NodeId some, NodeId maybe) { return b.Concat({maybe, some}); }, false},
        {"ConcatOfNullable",
         [](B b, NodeId, NodeId, NodeId maybe) {
           return b.Concat({maybe, b.Optional(b.Bytes("a"))});
         },
         true},
        {"AltOfBoth", [](B b, NodeId, NodeId some, NodeId maybe) { return b.Alt({some, maybe}); },
         true},
        {"AltOfNone", [](B b, NodeId, NodeId some, NodeId) { return b.Alt({some, b.Bytes("a")}); },
         false},
        {"NoRepeat", [](B b, NodeId, NodeId some, NodeId) { return b.Repeat(some, 0, 3); }, true},
        {"RepeatOfSome", [](B b, NodeId, NodeId some, NodeId) { return b.Repeat(some, 2, 3); },
         false},
        {"RepeatOfNullable",
         [](B b, NodeId, NodeId, NodeId maybe) { return b.Repeat(maybe, 2, 3); }, true},
        {"Limited", [](B b, NodeId, NodeId, NodeId maybe) { return b.Limited(maybe, 3); }, true},
        {"ItselfAlone", [](B, NodeId self, NodeId, NodeId) { return self; }, false},
        {"ItselfTwiceOrMaybe",
         [](B b, NodeId self, NodeId, NodeId maybe) {
           return b.Alt({b.Concat({self, self}), maybe});
         },
         true},
        {"ItselfTwiceOrSome",
         [](B b, NodeId self, NodeId some, NodeId) {
           return b.Alt({b.Concat({self, self}), some});
         },
         false},
        {"Intersection",
         [](B b, NodeId, NodeId, NodeId) {
           return Utf8(b, b.And({Any(b, 0), b.Not(b.Text("a"))}));
         },
         true},
        {"IntersectionWithSome",
         [](B b, NodeId, NodeId, NodeId) {
           return Utf8(b, b.And({Any(b, 1), b.Not(b.Text("a"))}));
         },
         false},
        {"ComplementOfNullable",
         [](B b, NodeId, NodeId, NodeId) { return Utf8(b, b.Not(b.Repeat(b.Text("ab"), 0, 3))); },
         false},
        {"ComplementWithinAComplement",
         [](B b, NodeId, NodeId, NodeId) {
           return Utf8(b, b.Not(b.Concat({b.Not(b.Text("b")), b.Text("a")})));
         },
         true},
    }),
    [](const auto& test) { return test.param.name; });

TEST(Nullable, TheBudgetHolds) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, b.Bytes("a"));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget(Budget::Bounds{.work = 0});
  EXPECT_EQ(NullableNodes(ir, budget).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
