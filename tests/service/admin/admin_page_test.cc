#include "service/admin/admin_page.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskd::service {
namespace {

using testing::HasSubstr;

using Listed = std::pair<std::int64_t, std::string>;  // a value and an id

// The largest first, those of the same number by id.
std::vector<Listed> InOrder(std::vector<Listed> items) {
  std::ranges::sort(items, [](const Listed& a, const Listed& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return items;
}

// All pages of so many, as one who asks for the next until there is none has them.
std::vector<Listed> Walk(const std::vector<Listed>& items, int size) {
  std::vector<Listed> walked;
  std::string token;
  do {
    auto asked = ReadPageRequest(size, token);
    EXPECT_TRUE(asked.ok()) << asked.status();
    if (!asked.ok()) break;
    AdminPage<Listed> page(*std::move(asked));
    for (const Listed& item : items) page.Offer({item.first, item.second}, item);
    EXPECT_EQ(page.total(), std::ssize(items));
    const std::vector<Listed> taken = page.Take();
    EXPECT_LE(std::ssize(taken), size);
    walked.insert(walked.end(), taken.begin(), taken.end());
    token = page.next();  // which taking the page has not changed
  } while (!token.empty() && walked.size() <= items.size());
  return walked;
}

TEST(AdminPageTest, PagesOfAnySizeAreTheSortedList) {
  std::mt19937 random(1);
  for (int count = 0; count < 40; ++count) {
    std::vector<Listed> items;
    for (int i = 0; i < count; ++i)
      items.emplace_back(static_cast<std::int64_t>(random() % 5) - 2, "id:" + std::to_string(i));
    std::ranges::shuffle(items, random);
    for (const int size : {1, 2, 3, 7, 39, 40, 500})
      EXPECT_EQ(Walk(items, size), InOrder(items)) << count << " items, pages of " << size;
  }
}

// A page token is a place, and no position: what comes and goes moves nobody else.
TEST(AdminPageTest, WhatGoesBetweenTwoPagesHidesNothing) {
  AdminPage<int> first({.size = 2, .after = std::nullopt});
  for (int i = 0; i < 5; ++i) first.Offer({100 - i, "x"}, i);
  const auto after = ReadPageToken(first.next());
  ASSERT_TRUE(after.ok()) << after.status();
  AdminPage<int> second({.size = 2, .after = *after});
  for (int i = 1; i < 5; ++i) second.Offer({100 - i, "x"}, i);  // 0 has gone
  EXPECT_EQ(second.Take(), (std::vector<int>{2, 3}));
}

TEST(AdminPageTest, ATokenIsReadAsItWasGiven) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-7}, kMost, -kMost - 1}) {
    for (const char* id : {"", "a", "a:b", "::", " x "}) {
      const auto read = ReadPageToken(TokenOf({value, id}));
      ASSERT_TRUE(read.ok() && read->has_value()) << value << id;
      EXPECT_EQ((*read)->value, value);
      EXPECT_EQ((*read)->id, id);
    }
  }
}

TEST(AdminPageTest, RefusesWhatIsNoRequest) {
  for (const char* token : {"x", "7", ":", ":a", "x:a", "9223372036854775808:a", "1.5:a"}) {
    const auto read = ReadPageRequest(10, token);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << token;
    EXPECT_THAT(read.status().message(), HasSubstr("page_token")) << token;
  }
  EXPECT_THAT(ReadPageRequest(-1, "").status().message(), HasSubstr("page_size"));
  EXPECT_EQ(ReadPageRequest(0, "")->size, 100U);
  EXPECT_EQ(ReadPageRequest(501, "")->size, 500U);
  EXPECT_EQ(ReadPageRequest(std::numeric_limits<int>::max(), "")->size, 500U);
}

}  // namespace
}  // namespace maskd::service
