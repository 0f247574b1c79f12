// Unproductive parts.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/productive.h"

namespace maskd {
namespace {

using testing::HasSubstr;

class PassesTest : public testing::Test {
 protected:
  GrammarIr Built(RuleId start) {
    absl::StatusOr<GrammarIr> ir = std::move(b_).Build(start);
    EXPECT_TRUE(ir.ok()) << ir.status();
    return *std::move(ir);
  }

  std::string Productive(RuleId start) {
    const absl::StatusOr<GrammarIr> ir =
        DropUnproductive(Built(start), IrForm::kBuilt, Limits(), budget_);
    return ir.ok() ? PrintIr(*ir) : ir.status().ToString();
  }

  IrBuilder b_{Limits()};
  Budget budget_ = Budget::Unlimited();
};

TEST_F(PassesTest, AlternativeThatNeverEndsIsDropped) {
  const RuleId start = b_.DeclareRule("start", "");
  const RuleId endless = b_.DeclareRule("endless", "");
  b_.DefineRule(endless, b_.Concat({b_.Bytes("("), b_.Call(endless), b_.Bytes(")")}));
  b_.DefineRule(start, b_.Alt({b_.Call(endless), b_.Bytes("xy")}));
  EXPECT_EQ(Productive(start), "start = r0\nr0 \"start\" = b\"xy\"\n");
}

TEST_F(PassesTest, RecursionThatEndsStays) {
  const RuleId start = b_.DeclareRule("start", "");
  b_.DefineRule(start, b_.Concat({b_.Bytes("("), b_.Optional(b_.Call(start)), b_.Bytes(")")}));
  EXPECT_EQ(Productive(start), "start = r0\nr0 \"start\" = (b\"(\" r0? b\")\")\n");
}

TEST_F(PassesTest, RepeatOfUnproductiveIsEmpty) {
  const RuleId start = b_.DeclareRule("start", "");
  const RuleId none = b_.DeclareRule("none", "");
  b_.DefineRule(none, b_.Nothing());
  b_.DefineRule(start, b_.Concat({b_.Bytes("a"), b_.Repeat(b_.Call(none), 0, 9)}));
  EXPECT_EQ(Productive(start), "start = r0\nr0 \"start\" = b\"a\"\n");
}

TEST_F(PassesTest, OptionalMemberStaysAsAForbiddenName) {
  const RuleId start = b_.DeclareRule("start", "");
  const RuleId none = b_.DeclareRule("none", "");
  b_.DefineRule(none, b_.Nothing());
  b_.DefineRule(start, b_.Object({{{"a", b_.Call(none), false}},
                                  {{b_.Repeat(b_.AnyChar(), 0, kUnbounded), b_.Bytes("1")}},
                                  b_.Empty(),
                                  false}));
  EXPECT_THAT(Productive(start), HasSubstr("object{\"a\": nothing, other ["));
}

TEST_F(PassesTest, UnproductiveOthersAreNone) {
  const RuleId start = b_.DeclareRule("start", "");
  const RuleId none = b_.DeclareRule("none", "");
  b_.DefineRule(none, b_.Nothing());
  b_.DefineRule(start, b_.Object({{{"a", b_.Bytes("1"), false}},
                                  {{b_.Repeat(b_.AnyChar(), 0, kUnbounded), b_.Call(none)}},
                                  b_.Empty(),
                                  false}));
  EXPECT_THAT(Productive(start), HasSubstr("object{\"a\": b\"1\", space empty}"));
}

TEST_F(PassesTest, UnproductiveStartNamesTheCause) {
  const RuleId start = b_.DeclareRule("start", "");
  const RuleId none = b_.DeclareRule("none", "/properties/a");
  b_.DefineRule(none, b_.Nothing());
  b_.DefineRule(start, b_.Object({{{"a", b_.Call(none), true}}, {}, b_.Empty(), false}));
  const GrammarIr ir = Built(start);
  const absl::Status plain = DropUnproductive(ir, IrForm::kBuilt, Limits(), budget_).status();
  EXPECT_EQ(plain.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(plain), "/properties/a");
  EXPECT_THAT(std::string(plain.message()), HasSubstr("no text satisfies this grammar"));
  const absl::Status told =
      DropUnproductive(ir, IrForm::kBuilt, Limits(), budget_,
                       {{none, InvalidAt("/properties/a/maxItems", "too small")}})
          .status();
  EXPECT_EQ(told.message(), "/properties/a/maxItems: too small");
}

TEST_F(PassesTest, ConditionThatNothingMeetsMakesAnObjectUnproductive) {
  const RuleId start = b_.DeclareRule("start", "/x");
  const RuleId none = b_.DeclareRule("none", "");
  b_.DefineRule(none, b_.Nothing());
  const NodeId value = b_.Alt({b_.Call(none), b_.Bytes("1")});
  const ObjectSpec::Member member = {"a", value, false, {{b_.Call(none), {0}}, {value, {}}}};
  b_.DefineRule(start, b_.Object({{member}, {}, b_.Empty(), false, {{{0}}}}));
  EXPECT_EQ(ErrorPlace(DropUnproductive(Built(start), IrForm::kBuilt, Limits(), budget_).status()),
            "/x");
}

TEST_F(PassesTest, ConditionThatOnlyTheObjectItselfMeetsMakesItUnproductive) {
  const RuleId start = b_.DeclareRule("start", "/x");
  const NodeId self = b_.Call(start);
  const ObjectSpec::Member member = {"a", self, false, {{self, {0}}}};
  b_.DefineRule(start, b_.Object({{member}, {}, b_.Empty(), false, {{{0}}}}));
  EXPECT_EQ(ErrorPlace(DropUnproductive(Built(start), IrForm::kBuilt, Limits(), budget_).status()),
            "/x");
}

TEST_F(PassesTest, TooFewMembersMakeAnObjectUnproductive) {
  const RuleId start = b_.DeclareRule("start", "/x");
  const std::vector<ObjectSpec::Member> members = {{"a", b_.Bytes("1"), false},
                                                   {"b", b_.Nothing(), false}};
  b_.DefineRule(start, b_.Object({members, {}, b_.Empty(), false, {}, 2}));
  EXPECT_EQ(ErrorPlace(DropUnproductive(Built(start), IrForm::kBuilt, Limits(), budget_).status()),
            "/x");
}

TEST_F(PassesTest, EndlessStartIsAnError) {
  const RuleId start = b_.DeclareRule("start", "/x");
  b_.DefineRule(start, b_.Concat({b_.Bytes("("), b_.Call(start)}));
  EXPECT_EQ(ErrorPlace(DropUnproductive(Built(start), IrForm::kBuilt, Limits(), budget_).status()),
            "/x");
}

TEST_F(PassesTest, DeepChainOfRulesNeedsNoStack) {
  std::vector<RuleId> rules;
  for (int i = 0; i < 100'000; ++i) rules.push_back(b_.DeclareRule("r", ""));
  for (int i = 0; i + 1 < 100'000; ++i) b_.DefineRule(rules[i], b_.Call(rules[i + 1]));
  b_.DefineRule(rules.back(), b_.Bytes("x"));
  const GrammarIr ir = Built(rules.front());
  EXPECT_TRUE(DropUnproductive(ir, IrForm::kBuilt, Limits(), budget_).ok());
}

}  // namespace
}  // namespace maskd
