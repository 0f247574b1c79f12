#include "grammar_core/ir/facts/rule_groups.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using Names = std::vector<std::vector<std::string>>;

Names GroupsOf(const GrammarIr& ir) {
  Budget budget = Budget::Unlimited();
  const std::vector<RuleGroup> groups = *GroupRules(ir, budget);
  Names all;
  for (const RuleGroup& group : groups) {
    std::vector<std::string>& names = all.emplace_back();
    for (const RuleId rule : group.rules) names.push_back(ir.rules[rule].name);
    std::ranges::sort(names);
  }
  return all;
}

TEST(RuleGroups, CalleesComeFirst) {
  IrBuilder b{Limits()};
  const RuleId top = b.DeclareRule("top", "");
  const RuleId middle = b.DeclareRule("middle", "");
  const RuleId leaf = b.DeclareRule("leaf", "");
  b.DefineRule(top, b.Concat({b.Call(middle), b.Bytes("t")}));
  b.DefineRule(middle, b.Concat({b.Call(leaf), b.Bytes("m")}));
  b.DefineRule(leaf, b.AnyByteOf("xy"));
  EXPECT_EQ(GroupsOf(*std::move(b).Build(top)), (Names{{"leaf"}, {"middle"}, {"top"}}));
}

TEST(RuleGroups, RulesThatCallEachOtherAreOneGroup) {
  IrBuilder b{Limits()};
  const RuleId top = b.DeclareRule("top", "");
  const RuleId list = b.DeclareRule("list", "");
  const RuleId item = b.DeclareRule("item", "");
  b.DefineRule(top, b.Concat({b.Call(list), b.Bytes("t")}));
  b.DefineRule(list, b.Concat({b.Bytes("["), b.Call(item), b.Bytes("]")}));
  b.DefineRule(item, b.Alt({b.Bytes("0"), b.Call(list)}));
  EXPECT_EQ(GroupsOf(*std::move(b).Build(top)), (Names{{"item", "list"}, {"top"}}));
}

// Of each group, children before what they are part of, and each node once.
TEST(RuleGroups, NodesComeAfterTheirChildren) {
  IrBuilder b{Limits()};
  const RuleId top = b.DeclareRule("top", "");
  const NodeId shared = b.Repeat(b.AnyByteOf("ab"), 1, 3);
  b.DefineRule(top, b.Concat({shared, b.Bytes("x"), b.Optional(b.Concat({b.Bytes("y"), shared}))}));
  const GrammarIr ir = *std::move(b).Build(top);
  Budget budget = Budget::Unlimited();
  const std::vector<RuleGroup> groups = *GroupRules(ir, budget);
  ASSERT_EQ(groups.size(), 1);
  std::vector<NodeId> before;
  for (const NodeId node : groups[0].nodes) {
    EXPECT_EQ(std::ranges::count(before, node), 0);
    std::vector<NodeId> parts;
    AppendParts(ir, node, &parts);
    for (const NodeId part : parts) EXPECT_EQ(std::ranges::count(before, part), 1);
    before.push_back(node);
  }
  EXPECT_EQ(before.back(), ir.rules[top].body);
}

TEST(RuleGroups, ASharedNodeIsInTheFirstGroupThatHasIt) {
  IrBuilder b{Limits()};
  const RuleId top = b.DeclareRule("top", "");
  const RuleId leaf = b.DeclareRule("leaf", "");
  const NodeId shared = b.Concat({b.Bytes("x"), b.AnyByteOf("ab")});
  b.DefineRule(leaf, b.Repeat(shared, 1, 3));
  b.DefineRule(top, b.Concat({b.Call(leaf), shared, b.Bytes("y")}));
  const GrammarIr ir = *std::move(b).Build(top);
  Budget budget = Budget::Unlimited();
  const std::vector<RuleGroup> groups = *GroupRules(ir, budget);
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].rules, std::vector<RuleId>{leaf});
  EXPECT_EQ(std::ranges::count(groups[0].nodes, shared), 1);
  EXPECT_EQ(std::ranges::count(groups[1].nodes, shared), 0);
  EXPECT_EQ(std::ranges::count(groups[1].nodes, ir.rules[top].body), 1);
}

TEST(RuleGroups, StopsWhereTheBudgetEnds) {
  IrBuilder b{Limits()};
  const RuleId top = b.DeclareRule("top", "");
  std::vector<NodeId> all;  // more than are read between two looks at the budget
  for (int i = 0; i < 2000; ++i) all.push_back(b.AnyByteOf(i % 2 == 0 ? "ab" : "cd"));
  b.DefineRule(top, b.Concat(all));
  const GrammarIr ir = *std::move(b).Build(top);
  Budget budget(Budget::Bounds{.work = 10});
  EXPECT_FALSE(GroupRules(ir, budget).ok());
}

}  // namespace
}  // namespace maskd
