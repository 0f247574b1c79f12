// Pointers of nodes, by RFC 6901, and plain bytes, by a loop.
#include "grammar_core/frontend/json/json_tree.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

#include "grammar_core/frontend/json/json_reader.h"

namespace maskd {
namespace {

TEST(PlainBytesTest, AreThoseThatAStringSpellsAsTheyAre) {
  const auto count = [](const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const auto c = static_cast<unsigned char>(text[at]);
      if (c < 0x20 || c > 0x7F || c == '"' || c == '\\') break;
      ++at;
    }
    return at;
  };
  // Each byte alone at each place of two words.
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 18; ++at) {
      std::string text(18, 'a');
      text[at] = static_cast<char>(byte);
      EXPECT_EQ(CountPlain(text), count(text)) << byte << " at " << at;
      EXPECT_EQ(CountPlain(text.substr(0, at + 1)), count(text.substr(0, at + 1))) << byte;
    }
  }
  std::mt19937_64 random(6);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::size_t size = random() % 24; size > 0; --size)
      text.push_back(static_cast<char>(random() % 8 == 0 ? random() % 256 : 0x20 + random() % 96));
    EXPECT_EQ(CountPlain(text), count(text)) << text;
  }
}

TEST(PointerTest, IsByRfc6901) {
  json_internal::Tree tree;
  tree.texts.push_back({R"({"a/b":{"":[0,{"m~n":1}],"é\n":2}})", "", 0});
  ASSERT_TRUE(json_internal::Reader(8, &tree).Read().ok());
  const char* const pointers[] = {"",         "/a~1b",         "/a~1b/",   "/a~1b//0",
                                  "/a~1b//1", "/a~1b//1/m~0n", "/a~1b/é\n"};
  ASSERT_EQ(tree.nodes.size(), std::size(pointers));
  for (JsonId id = 0; id < tree.nodes.size(); ++id)
    EXPECT_EQ(json_internal::PointerOf(tree, id, 100), pointers[id]);
}

TEST(PointerTest, IsThatOfTheInnermostThatFits) {
  json_internal::Tree tree;
  tree.texts.push_back({R"([[{"long name":{"b":1}}]])", "", 0});
  ASSERT_TRUE(json_internal::Reader(8, &tree).Read().ok());
  const JsonId last = 4;
  EXPECT_EQ(json_internal::PointerOf(tree, last, 16), "/0/0/long name/b");
  EXPECT_EQ(json_internal::PointerOf(tree, last, 15), "/0/0/long name");
  EXPECT_EQ(json_internal::PointerOf(tree, last, 13), "/0/0");
  EXPECT_EQ(json_internal::PointerOf(tree, last, 1), "");
  EXPECT_EQ(json_internal::PointerOf(tree, last, 0), "");
}

TEST(PointerTest, OfAnAddedTextBeginsWithItsName) {
  json_internal::Tree tree;
  tree.texts.push_back({"1", "", 0});
  ASSERT_TRUE(json_internal::Reader(8, &tree).Read().ok());
  tree.texts.push_back({R"({"a":2})", "doc", 1});
  ASSERT_TRUE(json_internal::Reader(8, &tree).Read().ok());
  EXPECT_EQ(json_internal::PointerOf(tree, 0, 100), "");
  EXPECT_EQ(json_internal::PointerOf(tree, 1, 100), "doc#");
  EXPECT_EQ(json_internal::PointerOf(tree, 2, 100), "doc#/a");
}

}  // namespace
}  // namespace maskd
