#include "grammar_core/ir/passes/productive_nodes.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using B = IrBuilder&;

struct Case {
  const char* name;
  // The body of the start, which is `self`; no finite text matches `endless`.
  std::function<NodeId(B, NodeId self, NodeId endless)> make;
  bool productive;
};

class ProductiveNodesTest : public testing::TestWithParam<Case> {};

TEST_P(ProductiveNodesTest, SomeTextMatches) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const RuleId endless = b.DeclareRule("endless", "");
  b.DefineRule(endless, b.Concat({b.Bytes("("), b.Call(endless)}));
  b.DefineRule(start, GetParam().make(b, b.Call(start), b.Call(endless)));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  const std::vector<bool> productive = *ProductiveNodes(ir, budget);
  ASSERT_EQ(productive.size(), ir.nodes.size());
  EXPECT_EQ(productive[ir.rules[start].body], GetParam().productive) << PrintIr(ir);
  EXPECT_FALSE(productive[ir.rules[endless].body]);
  // Conditions between members are left to the whole search.
  const bool is_told = GetParam().productive && !absl::StrContains(GetParam().name, "Enough");
  EXPECT_EQ(IsSurelyProductive(ir), is_told) << PrintIr(ir);
}

NodeId ObjectOfA(B b, NodeId value, bool required, std::uint32_t min_members = 0) {
  return b.Object({{{"a", value, required}}, {}, b.Empty(), false, {}, min_members});
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, ProductiveNodesTest,
    testing::ValuesIn(std::vector<Case>{
        {"Nothing", [](B b, NodeId, NodeId) { return b.Nothing(); }, false},
        {"Empty", [](B b, NodeId, NodeId) { return b.Empty(); }, true},
        {"Token", [](B b, NodeId, NodeId) { return b.Tokens({.names = {"<end>"}}); }, true},
        {"Number", [](B b, NodeId, NodeId) { return b.Number({}); }, true},
        {"Call", [](B, NodeId, NodeId endless) { return endless; }, false},
        {"PartOfASequence",
         [](B b, NodeId, NodeId endless) { return b.Concat({b.Bytes("a"), endless}); }, false},
        {"OneBranch", [](B b, NodeId, NodeId endless) { return b.Alt({b.Bytes("a"), endless}); },
         true},
        {"NotAtAll", [](B b, NodeId, NodeId endless) { return b.Repeat(endless, 0, 4); }, true},
        {"AtLeastOnce", [](B b, NodeId, NodeId endless) { return b.Repeat(endless, 1, 4); }, false},
        {"Limited", [](B b, NodeId, NodeId endless) { return b.Limited(endless, 4); }, false},
        {"Block", [](B b, NodeId, NodeId endless) { return b.Block('[', endless, 4); }, false},
        {"Distinct",
         [](B b, NodeId, NodeId endless) {
           return b.Distinct(b.Concat({b.Bytes("["), endless, b.Bytes("]")}), {}, {});
         },
         false},
        {"RequiredMember", [](B b, NodeId, NodeId endless) { return ObjectOfA(b, endless, true); },
         false},
        {"OtherMember", [](B b, NodeId, NodeId endless) { return ObjectOfA(b, endless, false); },
         true},
        {"TooFewMembers",
         [](B b, NodeId, NodeId endless) { return ObjectOfA(b, endless, false, 1); }, false},
        {"EnoughMembers", [](B b, NodeId, NodeId) { return ObjectOfA(b, b.Bytes("1"), false, 1); },
         true},
        {"RecursionThatEnds",
         [](B b, NodeId self, NodeId) {
           return b.Concat({b.Bytes("("), b.Optional(self), b.Bytes(")")});
         },
         true},
        // Whether these are empty is the engine's to find out.
        {"EmptyIntersection",
         [](B b, NodeId, NodeId) {
           return b.Encode(Spelling::kUtf8, b.And({b.Text("ab"), b.Repeat(b.AnyChar(), 3, 4)}));
         },
         true},
        {"EmptyComplement",
         [](B b, NodeId, NodeId) {
           return b.Encode(Spelling::kUtf8, b.Not(b.Alt({b.Text("a"), b.Not(b.Text("a"))})));
         },
         true},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ProductiveNodes, TheBudgetHolds) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, b.Bytes("a"));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget(Budget::Bounds{.work = 0});
  EXPECT_EQ(ProductiveNodes(ir, budget).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
