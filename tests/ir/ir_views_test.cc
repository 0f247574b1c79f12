// A view gives back what the builder was asked for.
#include "grammar_core/ir/ir_views.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

class IrViewsTest : public testing::Test {
 protected:
  [[nodiscard]] const IrNode& At(NodeId node) const { return b_.node(node); }
  [[nodiscard]] const GrammarIr& ir() const { return b_.ir(); }
  IrBuilder b_{Limits()};
};

TEST_F(IrViewsTest, RepeatsAndLines) {
  const IrNode repeat = At(b_.Repeat(b_.Bytes("ab"), 2, kUnbounded));
  EXPECT_EQ(AsRepeat(repeat).min, 2);
  EXPECT_EQ(AsRepeat(repeat).max, kUnbounded);
  EXPECT_EQ(BreakSpacesOf(At(b_.Break(4))), 4);
  for (const char open : {'[', '{'}) {
    const IrNode block = At(b_.Block(open, b_.Break(2), 2));
    EXPECT_EQ(AsBlock(block).spaces, 2);
    EXPECT_EQ(AsBlock(block).open, open);
    EXPECT_EQ(AsBlock(block).close(), open == '[' ? ']' : '}');
  }
}

TEST_F(IrViewsTest, CallsAndCounts) {
  b_.DeclareRule("first", "1:1");
  const RuleId second = b_.DeclareRule("second", "2:1");
  EXPECT_EQ(CalledRuleOf(At(b_.Call(second))), second);
  EXPECT_EQ(MostTokensOf(At(b_.Limited(b_.Call(second), 7))), 7);
}

// Two of each, so that an index that is always 0 would not do.
TEST_F(IrViewsTest, EntriesOfPools) {
  b_.Bytes("ab");
  EXPECT_EQ(BytesOf(ir(), At(b_.Bytes("cde"))), "cde");
  b_.ByteSet(ByteBits().set('a').set('b'));
  EXPECT_EQ(ByteSetOf(ir(), At(b_.ByteSet(ByteBits().set('x').set('y')))),
            ByteBits().set('x').set('y'));
  b_.Text("one");
  const NodeId text = b_.Text("two");
  EXPECT_EQ(TextOf(ir(), At(text)), U"two");
  EXPECT_EQ(PoolIndexOf(At(text)), 1);
  b_.TextSet({"a", "b"});
  EXPECT_EQ(TextSetOf(ir(), At(b_.TextSet({"yes", "no"}))),
            (std::vector<std::u32string>{U"no", U"yes"}));
  b_.Chars(CharSet({{'a', 'z'}}));
  EXPECT_TRUE(CharSetOf(ir(), At(b_.Chars(CharSet({{'0', '9'}})))).Contains('7'));
}

TEST_F(IrViewsTest, OnlyLeavesWithEntriesHaveAPool) {
  EXPECT_TRUE(HasPool(IrKind::kText) && HasPool(IrKind::kObject) && HasPool(IrKind::kDistinct));
  EXPECT_FALSE(HasPool(IrKind::kRepeat) || HasPool(IrKind::kCall) || HasPool(IrKind::kBlock));
}

}  // namespace
}  // namespace maskd
