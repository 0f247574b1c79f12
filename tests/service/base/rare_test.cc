// A value that lies apart is copied with its owner, and moved without a copy.
#include "service/base/rare.h"

#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace maskd::service {
namespace {

static_assert(sizeof(Rare<std::string>) == sizeof(void*));

TEST(Rare, IsEmptyUntilItGetsAValue) {
  Rare<std::string> text;
  EXPECT_FALSE(text.has_value());
  text = std::string("a");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "a");
  text = std::nullopt;
  EXPECT_FALSE(text.has_value());
  EXPECT_EQ(text.emplace(3, 'x'), "xxx");
  EXPECT_EQ(text->size(), 3U);
}

TEST(Rare, ACopyHasAValueOfItsOwn) {
  const Rare<std::string> text = std::string("a");
  Rare<std::string> copy = text;
  *copy += "b";
  EXPECT_EQ(*text, "a");
  EXPECT_EQ(*copy, "ab");
  copy = text;
  EXPECT_EQ(*copy, "a");
  EXPECT_NE(copy.operator->(), text.operator->());
  const Rare<std::string> none;
  copy = none;
  EXPECT_FALSE(copy.has_value());
}

TEST(Rare, AMoveLeavesNothing) {
  Rare<std::string> from = std::string("a");
  const std::string* const at = from.operator->();
  Rare<std::string> to = std::exchange(from, std::nullopt);
  EXPECT_FALSE(from.has_value());
  EXPECT_EQ(to.operator->(), at);
}

}  // namespace
}  // namespace maskd::service
