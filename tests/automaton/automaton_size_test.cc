// What an automaton says that it holds.
#include "grammar_core/automaton/automaton_size.h"

#include "gtest/gtest.h"

#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

class AutomatonSizeTest : public testing::Test {
 protected:
  SmallGrammar grammar_{"regex", "[a-z]{3,40}(x|y)*"};
  AutomatonSize size_{grammar_.automaton()};
};

TEST_F(AutomatonSizeTest, ItGrowsByWhatTextsMeet) {
  const std::int64_t terms = size_.terms();
  const std::int64_t bytes = size_.held_bytes();
  grammar_.Behind("abcdxy");
  EXPECT_GT(size_.terms(), terms);
  EXPECT_GE(size_.held_bytes(), bytes);
  EXPECT_GT(size_.room(), 0);
  EXPECT_LT(size_.room(), 1);
}

TEST_F(AutomatonSizeTest, MasksCountByThemselves) {
  EXPECT_EQ(size_.mask_bytes(), 0);
  ASSERT_NE(grammar_.automaton().Mask(grammar_.automaton().start(), grammar_.work()), nullptr);
  EXPECT_GT(size_.mask_bytes(), 0);
}

TEST_F(AutomatonSizeTest, ItIsFullAtItsBoundAndWhenItIsToldSo) {
  EXPECT_FALSE(grammar_.automaton().full());
  size_.set_full_bytes(1);
  EXPECT_TRUE(grammar_.automaton().full()) << "it holds more than one byte";
  const auto other = grammar_.NewAutomaton();
  AutomatonSize(*other).Retire();
  EXPECT_TRUE(other->full());
}

}  // namespace
}  // namespace maskd
