#include "grammar_core/ir/text_counts.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/limits.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using B = IrBuilder&;

struct CountCase {
  const char* name;
  std::function<NodeId(B)> make;
  std::int64_t most;
};

class MostTextsTest : public testing::TestWithParam<CountCase> {};

TEST_P(MostTextsTest, Counts) {
  IrBuilder b{Limits()};
  const NodeId node = GetParam().make(b);
  EXPECT_EQ(MostTexts(b.ir(), node), GetParam().most);
}

NodeId Digit(B b) { return b.Chars(CharSet({{'0', '9'}})); }

INSTANTIATE_TEST_SUITE_P(
    Nodes, MostTextsTest,
    testing::ValuesIn(std::vector<CountCase>{
        {"Nothing", [](B b) { return b.Nothing(); }, 0},
        {"Empty", [](B b) { return b.Empty(); }, 1},
        {"Text", [](B b) { return b.Text("abc"); }, 1},
        {"TextSet", [](B b) { return b.TextSet({"a", "bc", "d"}); }, 3},
        {"Chars", [](B b) { return Digit(b); }, 10},
        {"AnyCharIsAmple", [](B b) { return b.AnyChar(); }, kAmpleTexts},
        {"ConcatMultiplies", [](B b) { return b.Concat({Digit(b), b.TextSet({"x", "yz"})}); }, 20},
        {"AltAdds", [](B b) { return b.Alt({b.Concat({Digit(b), Digit(b)}), b.Text("abc")}); },
         101},
        {"OptionalIsOneMore", [](B b) { return b.Optional(Digit(b)); }, 11},
        {"RepeatSumsPowers", [](B b) { return b.Repeat(Digit(b), 1, 3); }, 1110},
        {"RepeatOfOneText", [](B b) { return b.Repeat(b.Text("ab"), 2, 5); }, 4},
        {"SevenDigitsAreAmple", [](B b) { return b.Repeat(Digit(b), 7, 7); }, kAmpleTexts},
        {"SixDigitsAreNot", [](B b) { return b.Repeat(Digit(b), 6, 6); }, 1000000},
        {"EndlessIsAmple", [](B b) { return b.Repeat(b.Text("a"), 0, kUnbounded); }, kAmpleTexts},
        {"AndIsAtMostTheLeast",
         [](B b) { return b.And({b.Repeat(b.AnyChar(), 1, 2), b.Repeat(Digit(b), 2, 2)}); }, 100},
        {"NotIsAmple", [](B b) { return b.Not(b.Text("a")); }, kAmpleTexts},
    }),
    [](const auto& info) { return info.param.name; });

TEST(MostTextsTest, ADeepNodeTakesNoStack) {
  IrBuilder b{Limits()};
  constexpr int kDepth = 100'000;
  NodeId node = b.Text("a");
  for (int i = 0; i < kDepth; ++i) node = b.Optional(b.Concat({b.Text("b"), node}));
  EXPECT_EQ(MostTexts(b.ir(), node), kDepth + 1);
}

}  // namespace
}  // namespace maskd
