// Runs of chunks, against all of them written out.
#include "grammar_core/frontend/notation/substring.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/notation/node_texts.h"

namespace maskd {
namespace {

std::set<std::string> AllRuns(const std::vector<std::string>& chunks) {
  std::set<std::string> runs = {""};
  for (std::size_t from = 0; from < chunks.size(); ++from) {
    std::string run;
    for (std::size_t to = from; to < chunks.size(); ++to) runs.insert(run += chunks[to]);
  }
  return runs;
}

TEST(SubstringTest, RandomChunksGiveTheirRunsAndNoOtherText) {
  const std::vector<std::string> candidates = LetterTexts("ab", 8);
  std::mt19937_64 random(32);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> chunks;
    for (std::size_t i = random() % 8; i > 0; --i)
      chunks.push_back(std::vector<std::string>{"a", "b", "ab", "ba", "", "aa"}[random() % 6]);
    Limits limits;
    IrBuilder builder(limits);
    Budget budget = Budget::Unlimited();
    const absl::StatusOr<NodeId> node = SubstringOf(chunks, budget, builder);
    ASSERT_TRUE(node.ok()) << node.status();
    std::set<std::string> expected;
    for (const std::string& run : AllRuns(chunks))
      if (run.size() <= 8) expected.insert(run);
    EXPECT_EQ(TextsOfNode(builder, *node, candidates), expected) << absl::StrJoin(chunks, ",");
  }
}

TEST(SubstringTest, ChunksAreWhole) {
  Limits limits;
  IrBuilder builder(limits);
  Budget budget = Budget::Unlimited();
  const NodeId node = *SubstringOf({"né", "😀x"}, budget, builder);
  EXPECT_EQ(TextsOfNode(builder, node, {"", "n", "né", "é😀", "né😀x", "😀x", "x"}),
            (std::set<std::string>{"", "né", "né😀x", "😀x"}));
}

TEST(SubstringTest, NodesAreLinearInTheChunks) {
  const auto nodes_of = [](std::size_t count) {
    Limits limits;
    IrBuilder builder(limits);
    Budget budget = Budget::Unlimited();
    std::mt19937_64 random(33);
    std::vector<std::string> chunks;
    for (std::size_t i = 0; i < count; ++i) chunks.emplace_back(random() % 2 == 0 ? "a" : "b");
    EXPECT_TRUE(SubstringOf(chunks, budget, builder).ok());
    return builder.ir().nodes.size();
  };
  EXPECT_LT(nodes_of(4000), 2.5 * static_cast<double>(nodes_of(2000)));
  EXPECT_LT(nodes_of(4000), 8 * 4000U);
}

TEST(SubstringTest, TheBudgetEndsIt) {
  Limits limits;
  IrBuilder builder(limits);
  Budget budget(Budget::Bounds{.work = 50});
  EXPECT_EQ(SubstringOf(std::vector<std::string>(100, "a"), budget, builder).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
