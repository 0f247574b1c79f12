#include "grammar_core/mask/two_generations.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace maskd {
namespace {

struct TextBytes {
  std::int64_t operator()(int, const std::string& text) const {
    return static_cast<std::int64_t>(text.size());
  }
};
using Texts = TwoGenerations<int, std::string, TextBytes>;

TEST(TwoGenerationsTest, FindsWhatWasPut) {
  Texts texts({});
  Texts::Dropped dropped;
  EXPECT_EQ(texts.Find(1), nullptr);
  EXPECT_EQ(*texts.Put(1, "one", &dropped), "one");
  ASSERT_NE(texts.Find(1), nullptr);
  EXPECT_EQ(*texts.Find(1), "one");
  EXPECT_EQ(*texts.Put(1, "uno!", &dropped), "uno!") << "put again it is the new one";
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts.value_bytes(), 4);
}

TEST(TwoGenerationsTest, WhatIsUsedStaysAndWhatIsNotGoes) {
  Texts texts({.entries = 8});
  std::size_t dropped_entries = 0;
  Texts::Dropped nothing;
  texts.Put(-1, "used", &nothing);
  texts.Put(-2, "not used", &nothing);
  for (int key = 0; key < 100; ++key) {
    Texts::Dropped dropped;
    texts.Put(key, "x", &dropped);
    dropped_entries += dropped.entries.size();
    ASSERT_NE(texts.Find(-1), nullptr) << key;
    // A look may bring one over, which the next Put() sees.
    ASSERT_LE(texts.size(), 9U) << key;
  }
  EXPECT_EQ(texts.Find(-2), nullptr);
  EXPECT_EQ(texts.size() + dropped_entries, 102U) << "what goes is handed over, once";
}

TEST(TwoGenerationsTest, BytesAreBounded) {
  Texts texts({.bytes = 1000});
  for (int key = 0; key < 100; ++key) {
    Texts::Dropped dropped;
    texts.Put(key, std::string(100, 'x'), &dropped);
    ASSERT_LE(texts.value_bytes(), 1000) << key;
    ASSERT_EQ(texts.value_bytes(), static_cast<std::int64_t>(texts.size()) * 100);
  }
  EXPECT_GE(texts.size(), 5U);
  EXPECT_GT(texts.held_bytes(), texts.value_bytes());
}

TEST(TwoGenerationsTest, AfterTwoAgesNothingIsLeft) {
  Texts texts({});
  Texts::Dropped dropped;
  texts.Put(1, "one", &dropped);
  EXPECT_TRUE(texts.Age().entries.empty());
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts.Age().entries.size(), 1U);
  EXPECT_EQ(texts.size(), 0U);
  EXPECT_EQ(texts.value_bytes(), 0);
}

}  // namespace
}  // namespace maskd
