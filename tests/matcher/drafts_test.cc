// Drafts by example; random ones are in random_operations_test.
#include "grammar_core/matcher/drafts.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

using testing::ElementsAre;

std::shared_ptr<const CompiledGrammar> Compiled(const char* choices, const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  return *CompileGrammar({"choice", choices, {}}, TokenizerSpace::Create(TestVocabulary()), limits,
                         budget);
}

// One letter a position: a, active; e, active and may end; f, finished; -, invalid.
std::string Shape(const DraftMasks& masks) {
  std::string shape;
  for (const DraftPosition& position : masks.positions) {
    shape.push_back(position.state == DraftPosition::State::kInvalid    ? '-'
                    : position.state == DraftPosition::State::kFinished ? 'f'
                    : position.may_end                                  ? 'e'
                                                                        : 'a');
  }
  return shape;
}

struct DraftCase {
  const char* name;
  std::vector<TokenId> tokens;
  std::vector<int> parents;
  const char* shape;
  int accepted;
};

class DraftsTest : public testing::TestWithParam<DraftCase> {};

TEST_P(DraftsTest, OfOneRow) {
  Matcher matcher(Compiled(R"(["abc","axy"])"));
  ASSERT_TRUE(matcher.Accept('a').ok());
  DraftMasks masks;
  masks.accepted_tokens = 77;  // of an earlier call
  masks.positions.resize(3);
  ASSERT_TRUE(matcher.MaskDraft({GetParam().tokens, GetParam().parents}, &masks).ok());
  EXPECT_EQ(Shape(masks), GetParam().shape);
  EXPECT_EQ(masks.accepted_tokens, GetParam().accepted);
  EXPECT_EQ(masks.positions[0].mask.get(), matcher.Mask()->get());
  EXPECT_EQ(matcher.token_count(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DraftsTest,
    testing::ValuesIn(std::vector<DraftCase>{
        {"None", {}, {}, "a", 0},
        {"Whole", {'b', 'c', kEnd}, {}, "aaef", 3},
        {"AfterTheEnd", {'b', 'c', kEnd, 'q', kVocabSize}, {}, "aaefff", 5},
        {"PaddingAfterTheEnd", {'b', 'c', kEnd, -1, 'q'}, {}, "aaef--", 3},
        {"RefusedInTheMiddle", {'b', 'x', 'c'}, {}, "aa--", 1},
        {"RefusedAtOnce", {'q', 'b', 'c'}, {}, "a---", 0},
        {"PaddingEndsIt", {'b', -1, 'c'}, {}, "aa--", 1},
        {"OutOfRange", {'b', kVocabSize, 'c'}, {}, "aa--", 1},
        {"FarOutOfRange", {INT32_MIN}, {}, "a-", 0},
        {"EndTooEarly", {'b', kEnd}, {}, "aa-", 1},
        {"TreeOfTwo", {'b', 'x', 'c', 'y'}, {-1, -1, 0, 1}, "aaaee", 4},
        {"TreeWithARefusedBranch", {'q', 'x', 'c', 'y'}, {-1, -1, 0, 1}, "a-a-e", 2},
        {"TreeTwinsAreAllowed", {'b', 'b', 'c', 'c'}, {-1, -1, 0, 1}, "aaaee", 4},
        {"TreeChildOfTheWrongBranch", {'b', 'x', 'y'}, {-1, -1, 0}, "aaa-", 2},
        {"TreeWithPadding", {'b', -1, 'c', 'c'}, {-1, 0, 1, 0}, "aa--e", 2},
    }),
    [](const auto& test) { return test.param.name; });

TEST(DraftsTest, ARowThatHasFinishedHasOnlyFinishedPositions) {
  Matcher matcher(Compiled(R"(["a"])"));
  ASSERT_TRUE(matcher.Accept('a').ok());
  ASSERT_TRUE(matcher.Accept(kEnd).ok());
  DraftMasks masks;
  const std::vector<TokenId> tokens = {'q', kEnd, -1};
  ASSERT_TRUE(matcher.MaskDraft({tokens}, &masks).ok());
  EXPECT_EQ(Shape(masks), "fff-");
  EXPECT_EQ(masks.accepted_tokens, 2);
}

TEST(DraftsTest, OwnStopIdsHoldInDrafts) {
  Matcher matcher(Compiled(R"(["ab","abc"])"), {kOther});
  const std::vector<TokenId> tokens = {'a', 'b', kOther};
  DraftMasks masks;
  ASSERT_TRUE(matcher.MaskDraft({tokens}, &masks).ok());
  EXPECT_EQ(Shape(masks), "aaef");
  EXPECT_TRUE(masks.positions[2].mask->Allows(kOther));
  EXPECT_FALSE(masks.positions[2].mask->Allows(kEnd));
}

struct BadTreeCase {
  const char* name;
  std::vector<int> parents;
  const char* place;
};

class BadTreeTest : public testing::TestWithParam<BadTreeCase> {};

TEST_P(BadTreeTest, IsRefusedWithItsPlace) {
  Matcher matcher(Compiled(R"(["abc"])"));
  const std::vector<TokenId> tokens = {'a', 'b'};
  DraftMasks masks;
  const absl::Status made = matcher.MaskDraft({tokens, GetParam().parents}, &masks);
  EXPECT_TRUE(absl::IsInvalidArgument(made)) << made;
  EXPECT_EQ(ErrorPlace(made), GetParam().place);
  EXPECT_TRUE(masks.positions.empty());
}

INSTANTIATE_TEST_SUITE_P(Parents, BadTreeTest,
                         testing::ValuesIn(std::vector<BadTreeCase>{
                             {"TooFew", {-1}, "parents"},
                             {"TooMany", {-1, 0, 1}, "parents"},
                             {"Itself", {-1, 1}, "parents[1]"},
                             {"ALaterOne", {1, -1}, "parents[0]"},
                             {"BelowTheRow", {-2, 0}, "parents[0]"},
                             {"FarAway", {-1, INT32_MAX}, "parents[1]"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(DraftsTest, ALimitLeavesTheLaterPositionsInvalid) {
  Limits limits;
  limits.step_work = 10;
  const auto grammar = Compiled(R"(["abcdefghijklmnop"])", limits);
  Matcher matcher(grammar);
  const std::vector<TokenId> tokens = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'};
  DraftMasks masks;
  const absl::Status made = matcher.MaskDraft({tokens}, &masks);
  EXPECT_TRUE(absl::IsResourceExhausted(made)) << made;
  ASSERT_EQ(masks.positions.size(), tokens.size() + 1);
  const std::string shape = Shape(masks);
  const auto valid = static_cast<int>(shape.find('-'));
  EXPECT_GT(valid, 0) << shape;
  EXPECT_EQ(shape.find('a', shape.find('-')), std::string::npos) << shape;
  EXPECT_EQ(masks.accepted_tokens, valid - 1);
  EXPECT_TRUE(matcher.Accept('a').ok());
}

}  // namespace
}  // namespace maskd
