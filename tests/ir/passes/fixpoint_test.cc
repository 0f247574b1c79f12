#include "grammar_core/ir/passes/fixpoint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

using Nodes = std::vector<NodeId>;

class FixpointTest : public testing::Test {
 protected:
  GrammarIr Built(NodeId body) {
    b_.DefineRule(start_, body);
    return *std::move(b_).Build(start_);
  }

  static std::vector<bool> Only(const GrammarIr& ir, const Nodes& nodes) {
    std::vector<bool> has(ir.nodes.size(), false);
    for (const NodeId node : nodes) has[node] = true;
    return has;
  }

  IrBuilder b_{Limits()};
  RuleId start_ = b_.DeclareRule("start", "");
  Budget budget_ = Budget::Unlimited();
};

TEST_F(FixpointTest, ChildrenInOrder) {
  const NodeId a = b_.Bytes("a");
  const NodeId set = b_.AnyByteOf("xy");
  const NodeId body = b_.Concat({set, a, set});
  const GrammarIr ir = Built(body);
  EXPECT_EQ(DependedOn(ir, body), (Nodes{set, a, set}));
  EXPECT_EQ(DependedOn(ir, a), Nodes());
}

TEST_F(FixpointTest, OfACallTheBodyOfItsRule) {
  const NodeId call = b_.Call(start_);
  const NodeId body = b_.Concat({b_.Bytes("a"), call});
  const GrammarIr ir = Built(body);
  EXPECT_EQ(DependedOn(ir, call), Nodes{body});
}

TEST_F(FixpointTest, OfAnObjectTheRequiredValues) {
  const NodeId a = b_.Bytes("1");
  const NodeId c = b_.Bytes("3");
  const NodeId object = b_.Object({{{"a", a, true}, {"b", b_.Bytes("2"), false}, {"c", c, true}},
                                   {{b_.AnyChar(), b_.Bytes("4")}},
                                   b_.Bytes(" "),
                                   false});
  const GrammarIr ir = Built(object);
  EXPECT_EQ(DependedOn(ir, object), (Nodes{a, c}));
}

TEST_F(FixpointTest, OnlyConditionalObjectsAppendAllTheirParts) {
  const NodeId one = b_.Bytes("1");
  const NodeId plain = b_.Object({{{"a", one, true}}, {}, b_.Empty(), false});
  const NodeId counted = b_.Object({{{"a", one, false}}, {}, b_.Empty(), false, {}, 1});
  const GrammarIr ir = Built(b_.Concat({plain, counted}));
  Nodes parts = {7};
  EXPECT_FALSE(AppendConditional(ir, plain, &parts));
  EXPECT_FALSE(AppendConditional(ir, one, &parts));
  EXPECT_EQ(parts, Nodes{7});
  EXPECT_TRUE(AppendConditional(ir, counted, &parts));
  EXPECT_EQ(parts.at(0), 7);
  EXPECT_NE(std::find(parts.begin(), parts.end(), one), parts.end());
}

// {"a": 1, "b": 2} of which one must leave mark 0, as "a" does.
TEST_F(FixpointTest, AnObjectCanBeEndedByValuesThatHaveIt) {
  const NodeId one = b_.Bytes("1");
  const NodeId two = b_.Bytes("2");
  const NodeId object = b_.Object(
      {{{"a", one, false, {{one, {0}}}}, {"b", two, false}}, {}, b_.Empty(), false, {{{0}}}});
  const GrammarIr ir = Built(object);
  EXPECT_TRUE(*CanBeEnded(ir, object, Only(ir, {one}), budget_));
  EXPECT_FALSE(*CanBeEnded(ir, object, Only(ir, {two}), budget_));
  EXPECT_FALSE(*CanBeEnded(ir, object, Only(ir, {}), budget_));
}

// "Has the byte x in each text", on a grammar in which a call comes back.
TEST_F(FixpointTest, TheLeastOneHoldsNothingByItselfAlone) {
  const RuleId loop = b_.DeclareRule("loop", "");
  const NodeId x = b_.Bytes("x");
  const NodeId y = b_.Bytes("y");
  const NodeId round = b_.Concat({b_.Call(loop), y});
  b_.DefineRule(loop, round);
  const NodeId both = b_.Alt({b_.Concat({b_.Call(start_), y}), x});
  const GrammarIr ir = Built(both);
  const std::vector<bool> has = *LeastFixpoint(ir, budget_, [&](NodeId node) {
    switch (ir.nodes[node].kind) {
      case IrKind::kBytes:
        return BytesOf(ir, ir.nodes[node]) == "x" ? NodeNeeds::kAlways : NodeNeeds::kNever;
      case IrKind::kAlt:
      case IrKind::kConcat:
      case IrKind::kCall:
        return NodeNeeds::kAnyChild;
      default:
        return NodeNeeds::kNever;
    }
  });
  EXPECT_TRUE(has[x]);
  EXPECT_FALSE(has[y]);
  EXPECT_FALSE(has[round]);
  EXPECT_TRUE(has[both]);
  for (NodeId node = 0; node < ir.nodes.size(); ++node)
    if (ir.nodes[node].kind == IrKind::kCall)
      EXPECT_EQ(has[node], CalledRuleOf(ir.nodes[node]) == start_);
}

// A child that stands twice is waited for twice, and comes once.
TEST_F(FixpointTest, AllChildrenAreWaitedFor) {
  const NodeId set = b_.AnyByteOf("xy");
  const NodeId a = b_.Bytes("a");
  const NodeId twice = b_.Concat({set, a, set});
  const NodeId beside = b_.Concat({set, b_.Break(1)});
  const GrammarIr ir = Built(b_.Alt({twice, beside}));
  const std::vector<bool> has = *LeastFixpoint(ir, budget_, [&](NodeId node) {
    if (ir.nodes[node].kind == IrKind::kConcat) return NodeNeeds::kAllChildren;
    return node == set || node == a ? NodeNeeds::kAlways : NodeNeeds::kNever;
  });
  EXPECT_TRUE(has[twice]);
  EXPECT_FALSE(has[beside]);
}

TEST_F(FixpointTest, TheBudgetHolds) {
  const GrammarIr ir = Built(b_.Bytes("a"));
  Budget spent(Budget::Bounds{.work = 0});
  const auto always = [](NodeId) { return NodeNeeds::kAlways; };
  EXPECT_EQ(LeastFixpoint(ir, spent, always).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
