#include "memory/account.h"

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace maskd::memory {
namespace {

TEST(ChargeTest, CountsUntilItGoes) {
  Account account;
  {
    const Charge charge(&account, 100);
    EXPECT_EQ(account.bytes(), 100);
    const Charge another(&account, 7);
    EXPECT_EQ(account.bytes(), 107);
  }
  EXPECT_EQ(account.bytes(), 0);
}

TEST(ChargeTest, FollowsWhatIsHeld) {
  Account account;
  Charge charge(&account);
  EXPECT_EQ(account.bytes(), 0);
  charge.Set(50);
  charge.Set(20);
  charge.Add(5);
  charge.Add(-15);
  EXPECT_EQ(charge.bytes(), 10);
  EXPECT_EQ(account.bytes(), 10);
}

TEST(ChargeTest, AMoveTakesItAlong) {
  Account account;
  std::optional<Charge> from(std::in_place, &account, 30);
  Charge to(*std::move(from));
  from.reset();
  EXPECT_EQ(account.bytes(), 30);
  {
    Charge other(&account, 4);
    to = std::move(other);
  }
  EXPECT_EQ(to.bytes(), 4);
  EXPECT_EQ(account.bytes(), 4) << "what it held before is given back";
}

TEST(ChargeTest, OfNoAccountCountsNothing) {
  Charge charge(nullptr, 30);
  charge.Add(5);
  EXPECT_EQ(charge.bytes(), 0);
}

}  // namespace
}  // namespace maskd::memory
