// What a step says on the wire, whatever was said before and in whatever order.
#include "client/cpp/steps/step.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;

TEST(StepTest, ARowIsOpenedWithAllItsOptions) {
  const std::vector<TokenId> tokens = {1, 2};
  const std::vector<TokenId> stops = {9};
  const std::vector<LogitBias> biases = {{4, -1.5F}, {7, 2}};
  v1::ReasoningGate gate;
  gate.set_max_tokens(12);
  Step step;
  step.Open(5, "id",
            {.tokens = tokens,
             .stop_ids = stops,
             .reasoning = &gate,
             .min_tokens = 3,
             .remaining_tokens = 0,
             .temperature = 0.0F,
             .biases = biases,
             .want_answer = true,
             .observe = true});
  v1::Grammar grammar;
  grammar.set_kind("regex");
  step.Open(6, grammar);
  const v1::Step& said = step.message().step();
  ASSERT_EQ(said.open_size(), 2);
  const v1::OpenRow& open = said.open(0);
  EXPECT_EQ(open.row(), 5);
  EXPECT_EQ(open.grammar_id(), "id");
  EXPECT_THAT(open.tokens(), ElementsAre(1, 2));
  EXPECT_THAT(open.stop_ids(), ElementsAre(9));
  EXPECT_EQ(open.reasoning().max_tokens(), 12);
  EXPECT_EQ(open.min_tokens(), 3);
  EXPECT_TRUE(open.has_remaining_tokens()) << "none left is a bound";
  EXPECT_TRUE(open.has_temperature()) << "0 is a temperature";
  ASSERT_EQ(open.biases_size(), 2);
  EXPECT_EQ(open.biases(0).id(), 4);
  EXPECT_EQ(open.biases(0).bias(), -1.5F);
  EXPECT_TRUE(open.want_answer());
  EXPECT_TRUE(open.observe());
  EXPECT_EQ(said.open(1).grammar().kind(), "regex");
  EXPECT_FALSE(said.open(1).has_remaining_tokens());
  EXPECT_FALSE(said.open(1).has_temperature());
  EXPECT_FALSE(said.open(1).has_reasoning());
  // As a snapshot has it.
  Step again;
  again.Open(open);
  EXPECT_EQ(again.message().step().open(0).SerializeAsString(), open.SerializeAsString());
}

TEST(StepTest, AnUpdateIsOneWhateverIsSaidOfTheRow) {
  const std::vector<TokenId> tokens = {1, 2, 3};
  const std::vector<int> parents = {-1, 0, 0};
  Step step;
  step.SetRemaining(8, 0).Draft(8, tokens, parents).WantForced(8).Rollback(8, 2).Take(8, tokens);
  step.Draft(8, std::span(tokens).first(2));  // in place of the first
  ASSERT_EQ(step.message().step().rows_size(), 1);
  const v1::RowUpdate& row = step.message().step().rows(0);
  EXPECT_TRUE(row.has_remaining_tokens());
  EXPECT_TRUE(row.want_forced());
  EXPECT_EQ(row.rollback(), 2);
  EXPECT_THAT(row.tokens(), ElementsAre(1, 2, 3));
  EXPECT_THAT(row.drafts().tokens(), ElementsAre(1, 2));
  EXPECT_THAT(row.drafts().parents(), ElementsAre());
}

TEST(StepTest, AWaitIsOfMillisecondsThatAUint32Holds) {
  const std::vector<std::pair<absl::Duration, std::uint32_t>> waits = {
      {absl::Seconds(2), 2000},
      {absl::Microseconds(999), 0},
      {-absl::Seconds(1), 0},
      {-absl::InfiniteDuration(), 0},
      {absl::InfiniteDuration(), std::numeric_limits<std::uint32_t>::max()},
      {absl::Hours(24 * 365), std::numeric_limits<std::uint32_t>::max()},
  };
  for (const auto& [wait, ms] : waits) {
    Step step;
    step.WaitForCompile(wait);
    EXPECT_EQ(step.message().step().wait_for_compile_ms(), ms) << wait;
  }
}

TEST(StepTest, AnythingSaidIsSomething) {
  const v1::OpenRow snapshot;
  EXPECT_TRUE(Step().empty());
  EXPECT_FALSE(Step().Open(1, "id").empty());
  EXPECT_FALSE(Step().Open(snapshot).empty());
  EXPECT_FALSE(Step().Take(1, {}).empty());
  EXPECT_FALSE(Step().Snapshot(1).empty());
  EXPECT_FALSE(Step().Fork(1, 2).empty());
  EXPECT_FALSE(Step().Close(1).empty());
}

// A step that is used again and again says what a new one would say; rows come and go, beyond those
// that it remembers the places of.
TEST(StepTest, UsedAgainItIsAsANewOne) {
  std::mt19937_64 random(20261126);
  Step kept;
  Step copied;
  for (int i = 0; i < 300; ++i) {
    kept.Clear();
    Step made;
    const auto first = static_cast<RowId>(i % 3 == 0 ? random() : random() % 50);
    for (int row = 0; row < (i == 100 ? 20'000 : 100); ++row) {
      const RowId id = first + random() % (i == 100 ? 40'000 : 60);
      const std::vector<TokenId> tokens = {static_cast<TokenId>(random() % 1000)};
      for (Step* const step : {&kept, &made})
        row % 5 == 4 ? step->Rollback(id, 2) : step->Take(id, tokens);
    }
    ASSERT_EQ(kept.message().SerializeAsString(), made.message().SerializeAsString()) << i;
    // A copy goes its own way.
    if (i % 10 == 0) copied = kept;
    copied.Take(first, {});
    ASSERT_EQ(kept.message().SerializeAsString(), made.message().SerializeAsString()) << i;
  }
}

}  // namespace
}  // namespace maskd::client
