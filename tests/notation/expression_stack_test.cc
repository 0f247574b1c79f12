// Brackets, alternatives and operators as a reader pushes them.
#include "grammar_core/frontend/notation/expression_stack.h"

#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

class ExpressionStackTest : public testing::Test {
 protected:
  ExprId Value(std::size_t at) { return grammar_.Add({.kind = ExprKind::kCharacters, .at = at}); }
  std::vector<ExprId> ChildrenOf(ExprId id) const {
    const Expression& e = grammar_.expressions[id];
    const auto first = grammar_.children.begin() + e.first_child;
    return {first, first + e.child_count};
  }

  SourceGrammar grammar_;
  ExpressionStack stack_{&grammar_};
};

TEST_F(ExpressionStackTest, OneValueIsItself) {
  stack_.Open();
  EXPECT_EQ(stack_.depth(), 1);
  EXPECT_TRUE(stack_.AtSequenceBegin());
  EXPECT_EQ(stack_.Last(), std::nullopt);
  const ExprId value = Value(3);
  stack_.Push(value);
  EXPECT_FALSE(stack_.AtSequenceBegin());
  EXPECT_EQ(stack_.Last(), value);
  EXPECT_EQ(stack_.Close(9), value);
  EXPECT_EQ(stack_.depth(), 0);
}

TEST_F(ExpressionStackTest, NothingIsAnEmptySequenceWhereItStands) {
  stack_.Open();
  const ExprId empty = stack_.Close(7);
  EXPECT_EQ(grammar_.expressions[empty].kind, ExprKind::kSequence);
  EXPECT_EQ(grammar_.expressions[empty].child_count, 0U);
  EXPECT_EQ(grammar_.expressions[empty].at, 7U);
}

TEST_F(ExpressionStackTest, ASequenceStandsAtItsFirst) {
  stack_.Open();
  const ExprId one = Value(3), other = Value(5);
  stack_.Push(one);
  stack_.Push(other);
  const ExprId sequence = stack_.Close(9);
  EXPECT_EQ(grammar_.expressions[sequence].kind, ExprKind::kSequence);
  EXPECT_EQ(grammar_.expressions[sequence].at, 3U);
  EXPECT_EQ(ChildrenOf(sequence), (std::vector<ExprId>{one, other}));
}

// a b & c | d
TEST_F(ExpressionStackTest, OperandsBindTighterThanAlternatives) {
  stack_.Open();
  const ExprId a = Value(0), b = Value(2), c = Value(6), d = Value(10);
  stack_.Push(a);
  stack_.Push(b);
  stack_.EndOperand(4);
  EXPECT_TRUE(stack_.AtSequenceBegin());
  stack_.Push(c);
  stack_.EndAlternative(8);
  stack_.Push(d);
  const ExprId choice = stack_.Close(11);
  EXPECT_EQ(grammar_.expressions[choice].kind, ExprKind::kChoice);
  const std::vector<ExprId> ways = ChildrenOf(choice);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[1], d);
  EXPECT_EQ(grammar_.expressions[ways[0]].kind, ExprKind::kBoth);
  const std::vector<ExprId> both = ChildrenOf(ways[0]);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(ChildrenOf(both[0]), (std::vector<ExprId>{a, b}));
  EXPECT_EQ(both[1], c);
}

TEST_F(ExpressionStackTest, AnOperatorTakesWhatHasNoneYet) {
  stack_.Open();
  const ExprId value = Value(0);
  stack_.Push(value);
  const ExprId unsealed = grammar_.Add({.kind = ExprKind::kRepeat}, {value});
  stack_.Replace(unsealed, false);
  EXPECT_EQ(stack_.Last(), unsealed);
  const ExprId sealed = grammar_.Add({.kind = ExprKind::kRepeat}, {unsealed});
  stack_.Replace(sealed, true);
  EXPECT_EQ(stack_.Last(), std::nullopt);
  EXPECT_FALSE(stack_.AtSequenceBegin());
  // The next value may have one again; so may the first of the next alternative.
  stack_.Push(Value(4));
  EXPECT_NE(stack_.Last(), std::nullopt);
  stack_.Replace(Value(5), true);
  stack_.EndAlternative(6);
  EXPECT_EQ(stack_.Last(), std::nullopt);
  stack_.Push(Value(8));
  EXPECT_NE(stack_.Last(), std::nullopt);
}

TEST_F(ExpressionStackTest, ABracketWithinChangesNothingAround) {
  stack_.Open();
  const ExprId before = Value(0);
  stack_.Push(before);
  stack_.Open();
  EXPECT_EQ(stack_.depth(), 2);
  EXPECT_TRUE(stack_.AtSequenceBegin());
  stack_.Push(Value(2));
  stack_.EndAlternative(3);
  const ExprId within = stack_.Close(4);
  EXPECT_EQ(stack_.Last(), before);
  stack_.Push(within);
  EXPECT_EQ(ChildrenOf(stack_.Close(5)), (std::vector<ExprId>{before, within}));
}

// (a %if 0 | b) c %if 1: each condition knows where what it holds for begins.
TEST_F(ExpressionStackTest, ConditionsHoldForTheirAlternative) {
  const ExprId before = Value(0);  // of another definition
  stack_.Open();
  stack_.Open();
  const ExprId a = Value(1);
  stack_.Push(a);
  stack_.EndAlternative(2, 0);
  const ExprId b = Value(3);
  stack_.Push(b);
  const ExprId group = stack_.Close(4);
  stack_.Push(group);
  stack_.Push(Value(5));
  const ExprId whole = stack_.Close(6, 1);
  const Expression& outer = grammar_.expressions[whole];
  EXPECT_EQ(outer.kind, ExprKind::kIf);
  EXPECT_EQ(outer.a, 1U);
  EXPECT_EQ(outer.b, before + 1);
  const Expression& inner = grammar_.expressions[ChildrenOf(group)[0]];
  EXPECT_EQ(inner.kind, ExprKind::kIf);
  EXPECT_EQ(inner.a, 0U);
  EXPECT_EQ(inner.b, a);
  EXPECT_EQ(ChildrenOf(group)[1], b);
}

}  // namespace
}  // namespace maskd
