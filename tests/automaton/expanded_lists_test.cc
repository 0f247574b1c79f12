#include "grammar_core/intersection/expanded_lists.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>

#include "gtest/gtest.h"

namespace maskd {
namespace {

struct Added {
  ConditionList list;
  std::uint32_t chars;
};

ConditionList RandomList(std::mt19937_64* random) {
  ConditionList list;
  while (list.empty()) {
    for (ConditionId id = 0; id < 8; ++id)
      if ((*random)() % 2 == 0) list.push_back(id);
  }
  return list;
}

TEST(ExpandedListsTest, APartWithNoMoreCharactersIsFound) {
  std::mt19937_64 random(1);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    Budget budget = Budget::Unlimited();
    Work work(budget);
    ExpandedLists expanded;
    std::deque<Added> added;
    for (int j = 0; j < 12; ++j) {
      const ConditionList list = RandomList(&random);
      const auto chars = static_cast<std::uint32_t>(random() % 4);
      const bool has_part = std::ranges::any_of(added, [&](const Added& other) {
        return other.list != list && other.chars <= chars &&
               std::ranges::includes(list, other.list);
      });
      ASSERT_EQ(expanded.HavePartOf(list, chars, work), has_part);
      found += has_part ? 1 : 0;
      added.push_back({list, chars});
      expanded.Add(added.back().list, chars);
    }
    EXPECT_TRUE(work.ok());
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace maskd
