// The end of reasoning, found token by token wherever it stands.
#include "service/sequences/reasoning_gate.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskd::service {
namespace {

class ReasoningGateTest : public testing::Test {
 protected:
  std::shared_ptr<const ReasoningGate> Make(const GateRequest& request) {
    auto gate = ReasoningGate::Create(request, tokenizers_->all().front());
    EXPECT_TRUE(gate.ok()) << gate.status();
    return *std::move(gate);
  }

  // How many of `tokens` end the reasoning; -1 when they do not.
  static int EndsAfter(const ReasoningGate& gate, const std::vector<TokenId>& tokens) {
    ReasoningGate::Place place = gate.start();
    for (std::size_t i = 0; i <= tokens.size(); ++i) {
      if (gate.ended(place)) return static_cast<int>(i);
      if (i < tokens.size()) place = gate.Next(place, tokens[i]);
    }
    return -1;
  }

  std::unique_ptr<const TokenizerStore> tokenizers_ = std::move(*TokenizerStore::Load({}, 1 << 20));
};

TEST_F(ReasoningGateTest, AFalseStartMayHoldTheEndsBeginning) {
  const auto gate = Make({.end_tokens = {1, 1, 2}});
  EXPECT_EQ(EndsAfter(*gate, {1, 1, 1, 2}), 4);
  EXPECT_EQ(EndsAfter(*gate, {1, 2, 1, 1}), -1);
}

TEST_F(ReasoningGateTest, ThePromptsTailMayHoldTheEndOrItsBeginning) {
  EXPECT_EQ(EndsAfter(*Make({.end_tokens = {5, 6}, .prompt_tail = {4, 5}}), {6}), 1);
  EXPECT_EQ(EndsAfter(*Make({.end_tokens = {5, 6}, .prompt_tail = {5, 6, 7}}), {}), 0);
  EXPECT_EQ(EndsAfter(*Make({.end_tokens = {5, 6}, .prompt_tail = {5, 7}}), {6}), -1);
}

TEST_F(ReasoningGateTest, ASpentBudgetLeavesTheRestOfTheEnd) {
  const auto gate = Make({.end_tokens = {5, 6, 7}, .max_tokens = 2});
  EXPECT_FALSE(gate->must_end(1));
  EXPECT_TRUE(gate->must_end(2));
  const ReasoningGate::Place place = gate->Next(gate->start(), 5);
  EXPECT_EQ(gate->NextOfEnd(place), 6);
  EXPECT_THAT(gate->Rest(place), testing::ElementsAre(6, 7));
}

// Against a search of the whole text, over few tokens so that ends overlap themselves.
TEST_F(ReasoningGateTest, EndsWhereASearchFindsIt) {
  std::mt19937_64 random(3);  // NOLINT(cert-msc51-cpp): the same cases in every run
  const auto draw = [&random](std::size_t count) {
    std::vector<TokenId> tokens(count);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random() % 2);
    return tokens;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::vector<TokenId> end = draw(1 + random() % 6);
    const std::vector<TokenId> text = draw(random() % 24);
    const auto found = std::ranges::search(text, end);
    const int expected = found.empty() ? -1 : static_cast<int>(found.end() - text.begin());
    ASSERT_EQ(EndsAfter(*Make({.end_tokens = end}), text), expected) << i;
  }
}

}  // namespace
}  // namespace maskd::service
