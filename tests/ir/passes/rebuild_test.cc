#include "grammar_core/ir/passes/rebuild.h"

#include <functional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

bool KeepAll(NodeId) { return true; }

// Behind a rule that nothing calls: start = "a" | (called "b") | other?, in that order of rules.
GrammarIr Grammar() {
  IrBuilder b{Limits()};
  const RuleId unused = b.DeclareRule("unused", "");
  const RuleId other = b.DeclareRule("other", "");
  const RuleId start = b.DeclareRule("start", "");
  const RuleId called = b.DeclareRule("called", "");
  b.DefineRule(unused, b.Bytes("unused"));
  b.DefineRule(other, b.AnyByteOf("xyz"));
  b.DefineRule(called, b.Concat({b.Bytes("c"), b.Call(start)}));
  b.DefineRule(start,
               b.Alt({b.Bytes("a"), b.Concat({b.Call(called), b.Bytes("b")}), b.Call(other)}));
  return *std::move(b).Build(start);
}

class RebuildTest : public testing::TestWithParam<IrForm> {
 protected:
  std::string Rebuilt(GrammarIr ir, const std::function<bool(NodeId)>& keep) {
    const absl::StatusOr<GrammarIr> made =
        Rebuild(std::move(ir), GetParam(), Limits(), budget_, keep);
    if (!made.ok()) return made.status().ToString();
    for (const IrNode& node : made->nodes) nodes_of_unused_ += IsUnused(*made, node) ? 1 : 0;
    return PrintIr(*made);
  }

  static bool IsUnused(const GrammarIr& ir, const IrNode& node) {
    return node.kind == IrKind::kBytes && BytesOf(ir, node) == "unused";
  }

  int nodes_of_unused_ = 0;
  Budget budget_ = Budget::Unlimited();
};

TEST_P(RebuildTest, WhatIsNotReachedGoesAndRulesKeepTheirOrder) {
  EXPECT_EQ(Rebuilt(Grammar(), KeepAll),
            "start = r1\n"
            "r0 \"other\" = b[x-z]\n"
            "r1 \"start\" = (b\"a\" | (r2 b\"b\") | r0)\n"
            "r2 \"called\" = (b\"c\" r1)\n");
  EXPECT_EQ(nodes_of_unused_, 0);
}

// What is made of Nothing alone is Nothing too, and its rule is not called any more.
TEST_P(RebuildTest, WhatIsNotKeptIsNothing) {
  const GrammarIr ir = Grammar();
  const auto keep = [&](NodeId node) {
    return ir.nodes[node].kind != IrKind::kBytes || BytesOf(ir, ir.nodes[node]) != "b";
  };
  EXPECT_NE(PrintIr(ir).find("b\"b\""), std::string::npos);
  const std::string made = Rebuilt(ir, keep);
  EXPECT_EQ(made.find("b\"b\""), std::string::npos) << made;
  EXPECT_NE(made.find("(b\"a\" | r0)"), std::string::npos) << made;
}

TEST_P(RebuildTest, TheBudgetHolds) {
  Budget spent(Budget::Bounds{.work = 0});
  const auto made = Rebuild(Grammar(), GetParam(), Limits(), spent, KeepAll);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kResourceExhausted);
}

INSTANTIATE_TEST_SUITE_P(Forms, RebuildTest, testing::Values(IrForm::kBuilt, IrForm::kEdited),
                         [](const auto& test) {
                           return test.param == IrForm::kBuilt ? "Built" : "Edited";
                         });

TEST(Rebuild, TheLimitOfNodesHolds) {
  Limits limits;
  limits.ir_nodes = 5;
  Budget budget = Budget::Unlimited();
  const absl::Status status = Rebuild(Grammar(), IrForm::kEdited, limits, budget, KeepAll).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("ir_nodes"), std::string::npos) << status;
}

// A pass may leave an operator of one part, which a builder would not have made.
TEST(Rebuild, AnEditedIrIsNormalisedAgain) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const NodeId body = b.Concat({b.Bytes("a"), b.AnyByteOf("xy")});
  b.DefineRule(start, body);
  GrammarIr ir = *std::move(b).Build(start);
  ir.nodes[body].child_count = 1;
  Budget budget = Budget::Unlimited();
  const GrammarIr made = *Rebuild(std::move(ir), IrForm::kEdited, Limits(), budget, KeepAll);
  EXPECT_EQ(made.nodes[made.rules[made.start].body].kind, IrKind::kBytes);
  EXPECT_EQ(made.nodes.size(), 3) << "Nothing, Empty and the bytes";
}

}  // namespace
}  // namespace maskd
