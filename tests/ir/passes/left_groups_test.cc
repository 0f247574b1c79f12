#include "grammar_core/ir/passes/left_groups.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/nullable.h"

namespace maskd {
namespace {

using B = IrBuilder&;
using Rules = std::vector<RuleId>;

// The grammar that `define` gives, and its groups.
class Fixture {
 public:
  Fixture(int rules, const std::function<void(B, const Rules&)>& define)
      : ir_(Made(rules, define)), nullable_(*NullableNodes(ir_, budget_)), groups(ir_, nullable_) {
    EXPECT_TRUE(groups.Find(budget_).ok());
  }

  [[nodiscard]] const GrammarIr& ir() const { return ir_; }
  [[nodiscard]] const std::vector<bool>& nullable() const { return nullable_; }
  Budget& budget() { return budget_; }

 private:
  static GrammarIr Made(int count, const std::function<void(B, const Rules&)>& define) {
    IrBuilder b{Limits()};
    Rules rules;
    for (int i = 0; i < count; ++i) rules.push_back(b.DeclareRule(absl::StrCat("r", i), ""));
    define(b, rules);
    return *std::move(b).Build(rules[0]);
  }

  Budget budget_ = Budget::Unlimited();
  const GrammarIr ir_;
  const std::vector<bool> nullable_;

 public:
  LeftGroups groups;
};

TEST(LeftGroups, RulesThatBeginWithEachOtherAreOneGroup) {
  const Fixture f(4, [](B b, const Rules& r) {
    b.DefineRule(r[0], b.Alt({b.Concat({b.Call(r[2]), b.Bytes("a")}), b.Call(r[3])}));
    b.DefineRule(r[1], b.Concat({b.Bytes("("), b.Call(r[1]), b.Bytes(")")}));
    b.DefineRule(r[2], b.Alt({b.Concat({b.Call(r[0]), b.Bytes("b")}), b.Call(r[1])}));
    b.DefineRule(r[3], b.Optional(b.Call(r[3])));
  });
  ASSERT_EQ(f.groups.all().size(), 3);
  const LeftGroups::Group& both = f.groups.all()[f.groups.GroupOf(0)];
  ASSERT_EQ(both.rules.size(), 2);
  for (const RuleId rule : {0, 2}) {
    EXPECT_EQ(f.groups.GroupOf(rule), f.groups.GroupOf(0));
    EXPECT_EQ(both.rules.at(f.groups.VariableOf(rule)), rule) << "a variable is a place there";
    EXPECT_TRUE(f.groups.Recursive(rule));
  }
  EXPECT_FALSE(f.groups.Recursive(1)) << "it comes back behind a byte";
  EXPECT_TRUE(f.groups.Recursive(3)) << "it begins with itself";
  // Groups come after those that they begin with.
  EXPECT_GT(f.groups.GroupOf(0), f.groups.GroupOf(1));
  EXPECT_GT(f.groups.GroupOf(0), f.groups.GroupOf(3));
}

TEST(LeftGroups, WhatMayBeEmptyHidesABeginning) {
  const Fixture f(3, [](B b, const Rules& r) {
    b.DefineRule(r[0], b.Concat({b.Call(r[1]), b.Call(r[0]), b.Bytes("x")}));
    b.DefineRule(r[1], b.Repeat(b.Bytes("a"), 0, 3));
    b.DefineRule(r[2], b.Concat({b.Bytes("a"), b.Call(r[2])}));
  });
  EXPECT_TRUE(f.groups.Recursive(0));
  EXPECT_FALSE(f.groups.Recursive(1));
  EXPECT_FALSE(f.groups.Recursive(2));
}

TEST(LeftGroups, ObjectsAndBlocksBeginWithAByte) {
  const Fixture f(2, [](B b, const Rules& r) {
    b.DefineRule(r[0], b.Object({{{"a", b.Call(r[0]), false}}, {}, b.Empty(), false}));
    b.DefineRule(r[1], b.Block('[', b.Optional(b.Call(r[1])), 2));
  });
  EXPECT_FALSE(f.groups.Recursive(0));
  EXPECT_FALSE(f.groups.Recursive(1));
}

// r0 = r0 "tail" r1 | "(" r2 ")", where r1 begins with r2 and r2 with r1; nothing calls r3.
Fixture Kept() {
  return Fixture(4, [](B b, const Rules& r) {
    b.DefineRule(r[0], b.Alt({b.Concat({b.Call(r[0]), b.Bytes("tail"), b.Call(r[1])}),
                              b.Concat({b.Bytes("("), b.Break(3), b.Bytes(")")})}));
    b.DefineRule(r[1], b.Alt({b.Concat({b.Call(r[2]), b.Bytes("x")}), b.Bytes("one")}));
    b.DefineRule(r[2], b.Alt({b.Concat({b.Call(r[1]), b.Bytes("y")}), b.Bytes("two")}));
    b.DefineRule(r[3], b.Bytes("unused"));
  });
}

TEST(KeptParts, WantedAreRulesThatAreCalledElsewhere) {
  Fixture f = Kept();
  KeptParts kept(f.ir(), f.nullable(), f.groups);
  ASSERT_TRUE(kept.Find(f.budget()).ok());
  EXPECT_TRUE(kept.Wanted(0)) << "the start";
  EXPECT_TRUE(kept.Wanted(1)) << "behind the tail";
  EXPECT_FALSE(kept.Wanted(2)) << "at the beginning of a rule of its group alone";
  EXPECT_FALSE(kept.Wanted(3)) << "not reached";
}

TEST(KeptParts, KeepsWhatStandsBehindABeginning) {
  Fixture f = Kept();
  KeptParts kept(f.ir(), f.nullable(), f.groups);
  ASSERT_TRUE(kept.Find(f.budget()).ok());
  std::vector<std::string> texts;
  for (NodeId node = 0; node < f.ir().nodes.size(); ++node)
    if (kept.Kept(node) && f.ir().nodes[node].kind == IrKind::kBytes)
      texts.push_back(BytesOf(f.ir(), f.ir().nodes[node]));
  std::ranges::sort(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"(", ")", "one", "tail", "two", "x", "y"}));
  for (const RuleId recursive : {0, 1, 2})
    EXPECT_FALSE(kept.Kept(f.ir().rules[recursive].body)) << "it is written anew";
}

TEST(KeptParts, OtherRulesAreKeptAsTheyAre) {
  Fixture f(2, [](B b, const Rules& r) {
    b.DefineRule(r[0], b.Concat({b.Bytes("a"), b.Call(r[1])}));
    b.DefineRule(r[1], b.Alt({b.Concat({b.Bytes("b"), b.Break(2)}), b.Bytes("c")}));
  });
  KeptParts kept(f.ir(), f.nullable(), f.groups);
  ASSERT_TRUE(kept.Find(f.budget()).ok());
  EXPECT_TRUE(kept.Kept(f.ir().rules[0].body));
  EXPECT_TRUE(kept.Kept(f.ir().rules[1].body));
}

TEST(LeftGroups, TheBudgetHolds) {
  Fixture f = Kept();
  Budget spent(Budget::Bounds{.work = 0});
  LeftGroups groups(f.ir(), f.nullable());
  EXPECT_EQ(groups.Find(spent).code(), absl::StatusCode::kResourceExhausted);
  KeptParts kept(f.ir(), f.nullable(), f.groups);
  EXPECT_EQ(kept.Find(spent).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
