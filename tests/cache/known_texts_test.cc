#include "cache/known_texts.h"

#include <string>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

namespace maskd::cache {
namespace {

TEST(KnownTextsTest, TextsOfOneGrammarHaveItsId) {
  KnownTexts texts(10);
  texts.Put("a", "1");
  texts.Put("a ", "1");
  EXPECT_EQ(texts.Find("a"), "1");
  EXPECT_EQ(texts.Find("a "), "1");
  EXPECT_EQ(texts.Find("b"), std::nullopt);
}

TEST(KnownTextsTest, TheLeastRecentlyUsedIsForgotten) {
  KnownTexts texts(3);
  for (int i = 0; i < 3; ++i) texts.Put(absl::StrCat(i), "id");
  EXPECT_TRUE(texts.Find("0").has_value());
  texts.Put("3", "id");
  EXPECT_TRUE(texts.Find("0").has_value());
  EXPECT_FALSE(texts.Find("1").has_value());
  EXPECT_EQ(texts.size(), 3U);
  for (int i = 0; i < 1000; ++i) texts.Put(absl::StrCat("more ", i), "id");
  EXPECT_EQ(texts.size(), 3U);
}

}  // namespace
}  // namespace maskd::cache
