// What is learnt of a grammar's ends outlives its rows, up to a bound.
#include "service/sequences/shared_closing.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace maskd::service {
namespace {

// Grammars are told apart by their addresses alone.
const CompiledGrammar* Grammar(std::size_t number) {
  static const std::vector<char> places(1000);
  return reinterpret_cast<const CompiledGrammar*>(&places[number]);
}

TEST(SharedClosing, RowsOfOneGrammarAndTheSameEndsShare) {
  SharedClosing closing;
  const auto first = closing.Of(Grammar(0), {});
  EXPECT_EQ(closing.Of(Grammar(0), {}), first);
  EXPECT_NE(closing.Of(Grammar(0), {7}), first);
  EXPECT_NE(closing.Of(Grammar(1), {}), first);
}

TEST(SharedClosing, WhatIsLearntOutlivesTheLastRow) {
  SharedClosing closing;
  const std::weak_ptr<ClosingMasks> learnt = closing.Of(Grammar(0), {});
  EXPECT_FALSE(learnt.expired());
  EXPECT_EQ(closing.Of(Grammar(0), {}), learnt.lock());
}

TEST(SharedClosing, TheGrammarsUsedLongestAgoAreForgotten) {
  SharedClosing closing;
  const std::weak_ptr<ClosingMasks> oldest = closing.Of(Grammar(0), {});
  const std::weak_ptr<ClosingMasks> used = closing.Of(Grammar(1), {});
  for (std::size_t i = 2; i <= SharedClosing::kMaxKept; ++i) {
    closing.Of(Grammar(i), {});
    closing.Of(Grammar(1), {});
  }
  EXPECT_TRUE(oldest.expired());
  EXPECT_FALSE(used.expired());
  // A row's own stays as long as the row.
  const auto held = closing.Of(Grammar(2), {});
  for (std::size_t i = 100; i < 200; ++i) closing.Of(Grammar(i), {});
  EXPECT_EQ(closing.Of(Grammar(2), {}), held);
}

}  // namespace
}  // namespace maskd::service
