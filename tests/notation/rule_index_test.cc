// Indexes of rules: steps and conditions by their definition, at the ends of the bits.
#include "grammar_core/frontend/notation/rule_index.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr RuleIndex kOnes = ~RuleIndex{0};

TEST(IndexBitsTest, AreAMaskAndANumber) {
  EXPECT_EQ((IndexBits{0, 64}.Mask()), kOnes);
  EXPECT_EQ((IndexBits{0, 1}.Mask()), 1U);
  EXPECT_EQ((IndexBits{63, 64}.Mask()), RuleIndex{1} << 63);
  EXPECT_EQ((IndexBits{4, 8}.Mask()), 0xF0U);
  EXPECT_EQ((IndexBits{4, 8}.Of(0xABC)), 0xBU);
  EXPECT_EQ((IndexBits{60, 64}.Of(kOnes)), 0xFU);
}

struct StepCase {
  std::string name;
  IndexStep step;
  RuleIndex caller;
  RuleIndex expected;
};
class IndexStepTest : public testing::TestWithParam<StepCase> {};

TEST_P(IndexStepTest, MakesTheIndexOfTheCall) {
  EXPECT_EQ(GetParam().step.Apply(GetParam().caller), GetParam().expected);
}

using Step = IndexStep::Kind;
INSTANTIATE_TEST_SUITE_P(Steps, IndexStepTest,
                         testing::ValuesIn(std::vector<StepCase>{
                             {"Value", {Step::kValue, {}, 7}, kOnes, 7},
                             {"Same", {Step::kSame, {}, 7}, 9, 9},
                             {"Or", {Step::kOr, {}, 6}, 9, 15},
                             {"And", {Step::kAnd, {}, 6}, 12, 4},
                             {"Increment", {Step::kIncrement, {4, 8}}, 0xA3F, 0xA4F},
                             {"IncrementOfTheHighest", {Step::kIncrement, {4, 8}}, 0x1F3, 0x1F3},
                             {"IncrementOfAll", {Step::kIncrement, {0, 64}}, kOnes, kOnes},
                             {"IncrementOfOneBit", {Step::kIncrement, {63, 64}}, 0, 1ULL << 63},
                             {"Decrement", {Step::kDecrement, {4, 8}}, 0xA1F, 0xA0F},
                             {"DecrementOfZero", {Step::kDecrement, {4, 8}}, 0xA0F, 0xA0F},
                             {"DecrementOfAll", {Step::kDecrement, {0, 64}}, kOnes, kOnes - 1},
                         }),
                         [](const auto& test) { return test.param.name; });

IndexTest Operator(IndexTest::Kind kind) { return {.kind = kind}; }

TEST(IndexConditionTest, ComparisonsAreOfNumbersWithoutSign) {
  using Comparison = IndexTest::Comparison;
  const auto holds = [](Comparison comparison, RuleIndex left, RuleIndex right) {
    return Holds({{IndexTest::Kind::kBits, comparison, {0, 64}, right}}, left);
  };
  const RuleIndex numbers[] = {0, 1, 5, kOnes >> 1, (kOnes >> 1) + 1, kOnes};
  for (const RuleIndex left : numbers) {
    for (const RuleIndex right : numbers) {
      EXPECT_EQ(holds(Comparison::kEq, left, right), left == right);
      EXPECT_EQ(holds(Comparison::kNe, left, right), left != right);
      EXPECT_EQ(holds(Comparison::kLt, left, right), left < right);
      EXPECT_EQ(holds(Comparison::kLe, left, right), left <= right);
      EXPECT_EQ(holds(Comparison::kGt, left, right), left > right);
      EXPECT_EQ(holds(Comparison::kGe, left, right), left >= right);
    }
  }
}

TEST(IndexConditionTest, BitsAreComparedOrCounted) {
  const IndexTest number = {IndexTest::Kind::kBits, IndexTest::Comparison::kEq, {1, 4}, 5};
  EXPECT_TRUE(Holds({number}, 0b1011));
  EXPECT_FALSE(Holds({number}, 0b0101));
  const IndexTest ones = {IndexTest::Kind::kBitCount, IndexTest::Comparison::kEq, {1, 64}, 2};
  EXPECT_TRUE(Holds({ones}, 0b1011));
  EXPECT_FALSE(Holds({ones}, kOnes));
}

// (x and not y) or z, for every x, y and z: each a bit of the index.
TEST(IndexConditionTest, OperatorsTakeWhatWasPushedLast) {
  const auto bit = [](std::uint32_t at) {
    return IndexTest{IndexTest::Kind::kBits, IndexTest::Comparison::kEq, {at, at + 1}, 1};
  };
  const IndexCondition condition = {bit(0),
                                    bit(1),
                                    Operator(IndexTest::Kind::kNot),
                                    Operator(IndexTest::Kind::kBoth),
                                    bit(2),
                                    Operator(IndexTest::Kind::kEither)};
  for (RuleIndex index = 0; index < 8; ++index) {
    const bool x = (index & 1) != 0, y = (index & 2) != 0, z = (index & 4) != 0;
    EXPECT_EQ(Holds(condition, index), (x && !y) || z) << index;
  }
  EXPECT_TRUE(Holds({Operator(IndexTest::Kind::kTrue)}, 0));
}

}  // namespace
}  // namespace maskd
