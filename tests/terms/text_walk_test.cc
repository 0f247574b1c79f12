// The nodes of a trie along texts, against all spellings of each text written out.
#include "grammar_core/terms/text_walk.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "grammar_core/mask/token_index.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

// RFC 8259, section 7, for the letters of these tests: each as itself, as \u and four digits of
// either case.
std::vector<std::string> SpellingsOf(char32_t letter) {
  const std::string lower = absl::StrFormat("\\u%04x", static_cast<unsigned>(letter));
  const std::string upper = absl::StrFormat("\\u%04X", static_cast<unsigned>(letter));
  std::vector<std::string> all = {lower};
  if (upper != lower) all.push_back(upper);
  if (letter == '"') {
    all.emplace_back("\\\"");
  } else if (letter == '/') {
    all.emplace_back("/");
    all.emplace_back("\\/");
  } else {
    all.emplace_back(1, static_cast<char>(letter));
  }
  return all;
}

std::vector<std::string> AllSpellings(const std::u32string& text, std::size_t from) {
  std::vector<std::string> all = {""};
  for (std::size_t i = from; i < text.size(); ++i) {
    std::vector<std::string> longer;
    for (const std::string& begun : all)
      for (const std::string& letter : SpellingsOf(text[i])) longer.push_back(begun + letter);
    all = std::move(longer);
  }
  return all;
}

// The bytes of each node of a trie.
std::vector<std::string> BytesOfNodes(const TokenTrie& trie) {
  std::vector<std::string> bytes;
  std::string path;
  for (const TrieNode& node : trie.nodes()) {
    path.resize(node.depth - 1);
    path += static_cast<char>(node.byte);
    bytes.push_back(path);
  }
  return bytes;
}

class TextWalkTest : public testing::Test {
 protected:
  using Found = std::set<std::string>;
  using Ends = std::map<std::string, std::uint32_t>;

  // Every node of at most eight letters of spellings, and some that leave them.
  static std::vector<std::string> Words() {
    return {"a",       "ab",      "abc",    "abx",      "b",          "\"",       "a\"", "ab\"",
            "ab\":",   "\\u0061", "\\u006", "\\u0062b", "a\\u0062\"", "\\u007",   "c/d", "c\\/d",
            "c\\/d\"", "\\\"",    "\\\"\"", "\\u002F",  "\\u002f",    "\xc3\xa9", "zz"};
  }

  void Check(const std::vector<std::u32string>& texts, std::uint32_t depth) {
    TextList list = {.depth = depth};
    for (const std::u32string& text : texts) list.texts.push_back(&text);
    ASSERT_TRUE(list.IsAscii());
    Found tokens;
    Ends quotes;
    WalkTexts(
        trie(), list, [&](std::size_t node) { EXPECT_TRUE(tokens.insert(bytes_[node]).second); },
        [&](std::size_t node, std::uint32_t text) { quotes[bytes_[node]] = text; });
    Found expected;
    Ends expected_quotes;
    for (std::uint32_t i = 0; i < texts.size(); ++i)
      for (const std::string& spelled : AllSpellings(texts[i], depth))
        for (const std::string& bytes : bytes_) {
          if (absl::StartsWith(spelled, bytes)) expected.insert(bytes);
          if (bytes == spelled + "\"") expected_quotes[bytes] = i;
        }
    EXPECT_EQ(tokens, expected);
    EXPECT_EQ(quotes, expected_quotes);
    EXPECT_FALSE(quotes.empty());
  }

  [[nodiscard]] const TokenTrie& trie() const { return index_.trie(); }
  const TokenIndex index_{BytesAnd(Words())};
  const std::vector<std::string> bytes_ = BytesOfNodes(index_.trie());
};

TEST_F(TextWalkTest, OneText) { Check({U"ab"}, 0); }
TEST_F(TextWalkTest, TextsThatShareABeginning) { Check({U"a", U"ab", U"abc", U"b"}, 0); }
TEST_F(TextWalkTest, WhatIsReadIsNotSpelledAgain) { Check({U"xa", U"xab"}, 1); }
TEST_F(TextWalkTest, AWholeTextWantsItsQuoteOnly) { Check({U"ab"}, 2); }
TEST_F(TextWalkTest, LettersThatMayBeEscaped) { Check({U"\"", U"c/d"}, 0); }

// What tokens hold after a first byte: the same texts, one letter further.
TEST_F(TextWalkTest, BelowANodeIsTheSameTrieWithoutItsBytes) {
  const std::u32string text = U"b";
  TextList list;
  list.texts = {&text};
  std::set<std::string> below;
  std::set<std::string> ends;
  WalkTextsBelow(
      trie(), trie().First('a'), list, [&](std::size_t node) { below.insert(bytes_[node]); },
      [&](std::size_t node, std::uint32_t) { ends.insert(bytes_[node]); });
  EXPECT_TRUE(below.contains("ab"));
  EXPECT_TRUE(below.contains("a\\u0062"));
  EXPECT_FALSE(below.contains("abc"));
  EXPECT_EQ(ends, (std::set<std::string>{"ab\"", "a\\u0062\""}));
}

TEST_F(TextWalkTest, OnlyWhatIsLeftMustBeAscii) {
  const std::u32string text = U"éa";
  TextList list;
  list.texts = {&text};
  EXPECT_FALSE(list.IsAscii());
  list.depth = 1;
  EXPECT_TRUE(list.IsAscii());
}

// The cost is that of the nodes along the texts, not of the trie.
TEST_F(TextWalkTest, NodesThatLeaveTheTextsAreNotVisited) {
  const std::u32string text = U"zz";
  TextList list;
  list.texts = {&text};
  const std::int64_t visited =
      WalkTexts(trie(), list, [](std::size_t) {}, [](std::size_t, std::uint32_t) {});
  EXPECT_LT(visited, 40);
  EXPECT_GT(trie().nodes().size(), 280);
}

}  // namespace
}  // namespace maskd
