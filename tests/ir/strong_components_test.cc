// Against reachability computed the slow way: two vertices share a component if each reaches the
// other.
#include "grammar_core/base/strong_components.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using Matrix = std::vector<std::vector<bool>>;

Matrix Reachability(const Graph& graph) {
  const std::size_t n = graph.size();
  Matrix reaches(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < n; ++i) {
    reaches[i][i] = true;
    for (const std::uint32_t to : graph[i]) reaches[i][to] = true;
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
    }
  }
  return reaches;
}

TEST(StrongComponentsTest, AgreesWithReachability) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t n = 1 + random() % 9;
    Graph graph(n);
    for (std::uint32_t edges = random() % (2 * n); edges > 0; --edges)
      graph[random() % n].push_back(random() % n);
    Budget budget = Budget::Unlimited();
    const auto components = StrongComponents(graph, budget);
    ASSERT_TRUE(components.ok());
    std::vector<std::size_t> component_of(n, n);
    for (std::size_t c = 0; c < components->size(); ++c)
      for (const std::uint32_t vertex : (*components)[c]) component_of[vertex] = c;
    const Matrix reaches = Reachability(graph);
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        EXPECT_EQ(component_of[i] == component_of[j], reaches[i][j] && reaches[j][i]);
        // What is led to comes first.
        EXPECT_TRUE(!reaches[i][j] || component_of[j] <= component_of[i]);
      }
    }
  }
}

TEST(StrongComponentsTest, LongCycleNeedsNoStack) {
  constexpr std::uint32_t kVertices = 300'000;
  Graph graph(kVertices);
  for (std::uint32_t i = 0; i < kVertices; ++i) graph[i].push_back((i + 1) % kVertices);
  Budget budget = Budget::Unlimited();
  const auto components = StrongComponents(graph, budget);
  ASSERT_TRUE(components.ok());
  ASSERT_EQ(components->size(), 1U);
  EXPECT_EQ(components->front().size(), kVertices);
}

TEST(StrongComponentsTest, BudgetHolds) {
  Budget::Bounds bounds;
  bounds.work = 100;
  Budget budget(bounds);
  EXPECT_EQ(StrongComponents(Graph(1000), budget).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
