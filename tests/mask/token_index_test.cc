#include "grammar_core/mask/token_index.h"

#include <array>
#include <memory>
#include <set>
#include <string>

#include "gtest/gtest.h"

#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

// What the nodes of tokens spell.
std::set<std::string> TextsOf(const TokenTrie& trie) {
  std::set<std::string> texts;
  std::string path;
  for (const TrieNode& node : trie.nodes()) {
    path.resize(node.depth - 1);
    path.push_back(static_cast<char>(node.byte));
    if (node.token != TokenTrie::kNoToken) texts.insert(path);
  }
  return texts;
}

TEST(TokenIndexTest, KnowsWhatTokensHoldAfterEachEnd) {
  const TokenIndex index(TestVocabulary());
  for (const char end : kEndBytes) {
    std::set<std::string> expected;
    for (TokenId id = 0; id < kVocabSize; ++id) {
      if (index.vocabulary().IsSpecial(id)) continue;
      const std::string token(index.vocabulary().TokenBytes(id));
      for (std::size_t at = token.find(end); at != std::string::npos; at = token.find(end, at + 1))
        if (at + 1 < token.size()) expected.insert(token.substr(at + 1));
    }
    EXPECT_EQ(TextsOf(index.TextsAfter(static_cast<unsigned char>(end))), expected) << end;
  }
  EXPECT_EQ(TextsOf(index.TextsAfter('"')), (std::set<std::string>{"}", ":", "a", ",\""}));
}

}  // namespace
}  // namespace maskd
