#include "grammar_core/mask/token_trie.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using Tokens = std::vector<std::string>;

TokenTrie TrieOf(const Tokens& tokens) {
  std::vector<TokenTrie::Entry> entries;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    entries.push_back({tokens[id], static_cast<TokenId>(id)});
  return TokenTrie::OfUnsorted(&entries);
}

// The ids by their bytes, as a walk in the order of the layout finds them.
std::map<std::string, std::set<TokenId>> Walked(const TokenTrie& trie) {
  std::map<std::string, std::set<TokenId>> found;
  std::string path;
  for (const TrieNode& node : trie.nodes()) {
    path.resize(node.depth - 1);
    path.push_back(static_cast<char>(node.byte));
    if (node.token == TokenTrie::kNoToken) continue;
    trie.VisitTokens(node, [&](TokenId id) { found[path].insert(id); });
  }
  return found;
}

TEST(TokenTrieTest, HasEachTokenAtTheEndOfItsBytes) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    Tokens tokens(random() % 30);
    std::map<std::string, std::set<TokenId>> expected;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      for (unsigned length = 1 + random() % 4; length > 0; --length)
        tokens[id].push_back(static_cast<char>("ab\xFF"[random() % 3]));
      expected[tokens[id]].insert(static_cast<TokenId>(id));
    }
    EXPECT_EQ(Walked(TrieOf(tokens)), expected);
  }
}

TEST(TokenTrieTest, ATextsTokensAreThePrefixesThatAreTokens) {
  std::mt19937 random(2);
  const auto text_of = [&](unsigned most) {
    std::string text;
    for (unsigned length = 1 + random() % most; length > 0; --length)
      text.push_back(static_cast<char>("ab\xFF"[random() % 3]));
    return text;
  };
  for (int run = 0; run < 200; ++run) {
    std::set<std::string> tokens;
    for (unsigned count = random() % 20; count > 0; --count) tokens.insert(text_of(5));
    const TokenTrie trie = TrieOf(Tokens(tokens.begin(), tokens.end()));
    const std::string text = text_of(7);
    Tokens expected;
    for (std::size_t bytes = 1; bytes <= text.size(); ++bytes)
      if (tokens.contains(text.substr(0, bytes))) expected.push_back(text.substr(0, bytes));
    Tokens found;
    trie.VisitPrefixes(text, [&](std::size_t bytes, const TrieNode& node) {
      EXPECT_NE(node.token, TokenTrie::kNoToken);
      EXPECT_EQ(node.depth, bytes);
      found.push_back(text.substr(0, bytes));
    });
    EXPECT_EQ(found, expected) << text;
    const auto goes_on = [&](const std::string& token) {
      return token.size() > text.size() && token.starts_with(text);
    };
    EXPECT_EQ(!trie.NodesBelow(text).empty(), std::ranges::any_of(tokens, goes_on)) << text;
  }
}

TEST(TokenTrieTest, AChildIsFoundAmongItsSiblings) {
  const TokenTrie trie = TrieOf({"ab", "ac", "acd", "b"});
  const TrieNode* const a = &trie.nodes()[trie.First('a')];
  EXPECT_EQ(a->token, TokenTrie::kNoToken);
  const TrieNode* const c = TokenTrie::FindChild(TokenTrie::Below(*a), 'c');
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->token & TokenTrie::kIdMask, 1U);
  EXPECT_NE(TokenTrie::FindChild(TokenTrie::Below(*c), 'd'), nullptr);
  EXPECT_EQ(TokenTrie::FindChild(TokenTrie::Below(*a), 'd'), nullptr) << "a grandchild";
  EXPECT_EQ(TokenTrie::FindChild(TokenTrie::Below(*a), 'x'), nullptr);
}

TEST(TokenTrieTest, AFirstByteThatNoTokenHasIsBehindTheNodes) {
  const TokenTrie trie = TrieOf({"a"});
  EXPECT_EQ(trie.First('b'), trie.nodes().size());
  EXPECT_EQ(trie.First('a'), 0U);
}

TEST(TokenTrieTest, LongTokensAreLeftToTheCaller) {
  const TokenTrie trie =
      TrieOf({std::string(TokenTrie::kMaxDepth, 'x'), std::string(TokenTrie::kMaxDepth + 1, 'x')});
  EXPECT_EQ(trie.long_tokens(), std::vector<TokenId>{1});
  EXPECT_EQ(trie.nodes().size(), TokenTrie::kMaxDepth);
}

TEST(TokenTrieTest, AllowsATokenWithItsTwins) {
  const TokenTrie trie = TrieOf({"a", "b", "a", "a"});
  std::vector<std::int32_t> words(1);
  trie.AllowTokens(trie.nodes()[trie.First('a')], words.data());
  EXPECT_EQ(words[0], 0b1101);
  trie.AllowTokens(trie.nodes()[trie.First('b')], words.data());
  EXPECT_EQ(words[0], 0b1111);
}

TEST(TokenTrieTest, ANodeWithoutATokenAllowsNothing) {
  const TokenTrie trie = TrieOf({"ab"});
  std::vector<std::int32_t> words(1);
  trie.AllowTokens(trie.nodes()[trie.First('a')], words.data());
  EXPECT_EQ(words[0], 0);
}

}  // namespace
}  // namespace maskd
