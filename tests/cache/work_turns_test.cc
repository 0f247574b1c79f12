#include "cache/work_turns.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace maskd::cache {
namespace {

// Jobs that write their names down, in the order in which they are taken.
class WorkTurnsTest : public testing::Test {
 protected:
  std::uint64_t Add(const std::string& owner, std::int64_t cost, const std::string& name) {
    turns_.Add(++id_, owner, cost, [this, name] { taken_ += name; });
    return id_;
  }
  std::string Take(int count) {
    taken_.clear();
    for (int i = 0; i < count; ++i)
      if (const WorkTurns::Job job = turns_.Take(); job != nullptr) job();
    return taken_;
  }

  WorkTurns turns_;

 private:
  std::uint64_t id_ = 0;
  std::string taken_;
};

TEST_F(WorkTurnsTest, WhatCostsNothingKeepsItsOrder) {
  Add("one", 0, "a");
  Add("two", 0, "b");
  Add("one", 0, "c");
  Add("", 0, "d");
  EXPECT_EQ(Take(5), "abcd");
  EXPECT_TRUE(turns_.empty());
}

TEST_F(WorkTurnsTest, AnotherOwnerWaitsForOneTurnOfWhoHasMany) {
  for (const char* name : {"a", "b", "c", "d"}) Add("many", 10, name);
  EXPECT_EQ(Take(1), "a");
  Add("other", 10, "x");
  EXPECT_EQ(Take(9), "bxcd") << "b came before x and ends no later";
}

TEST_F(WorkTurnsTest, ACheapJobGoesBeforeDearOnesOfOthers) {
  for (const char* name : {"a", "b"}) Add("dear", 100, name);
  Add("cheap", 1, "x");
  EXPECT_EQ(Take(3), "xab");
}

// Who sends one job behind the other, each cheaper than what waits, has no turn that ends first
// forever.
TEST_F(WorkTurnsTest, CheapJobsWithoutEndHoldADearOneUpForItsCostAlone) {
  Add("dear", 100, "D");
  std::string taken;
  for (int i = 0; i < 200 && taken != "D"; ++i) {
    Add("cheap", 10, "c");
    taken = Take(1);
    if (taken == "D") EXPECT_EQ(i, 9) << "the tenth of 10 ends with it, and came later";
  }
  EXPECT_EQ(taken, "D");
}

TEST_F(WorkTurnsTest, WhatIsRemovedIsNotTakenAndCostsAnIdleOwnerNothing) {
  const std::uint64_t removed = Add("one", 100, "a");
  EXPECT_NE(turns_.Remove(removed), nullptr);
  EXPECT_EQ(turns_.Remove(removed), nullptr);
  Add("two", 60, "x");
  Add("one", 50, "b");
  EXPECT_EQ(turns_.size(), 2U);
  EXPECT_EQ(Take(3), "bx");
}

}  // namespace
}  // namespace maskd::cache
