// Every cut of every token, against the definition: a run of one byte or more, then the rest.
#include "grammar_core/mask/run_index.h"

#include <algorithm>
#include <bitset>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Cut = std::tuple<int, TokenId, std::string>;

std::set<Cut> CutsOf(const RunIndex& index) {
  std::set<Cut> cuts;
  std::string rest;
  for (const TrieNode& node : index.rests().nodes()) {
    rest.resize(node.depth - 1);
    rest.push_back(static_cast<char>(node.byte));
    if (node.token == TokenTrie::kNoToken) continue;
    index.rests().VisitTokens(
        node, [&](TokenId at) { cuts.insert({index.cut(at).run, index.cut(at).id, rest}); });
  }
  return cuts;
}

std::shared_ptr<const Vocabulary> Of(const std::vector<std::string>& texts,
                                     const std::vector<std::size_t>& special = {}) {
  std::vector<Vocabulary::Token> tokens;
  for (const std::string& text : texts) tokens.push_back({.bytes = text});
  for (const std::size_t id : special) tokens[id].special = true;
  return Vocabulary::Create("test", std::move(tokens), {}).value();
}

TEST(RunIndexTest, HasEveryCut) {
  std::bitset<256> space;
  space.set(' ').set('\n');
  const RunIndex index(*Of({" ", " \n", " a", "  a", "a ", " \n b c", "x"}), space);
  std::set<std::pair<int, TokenId>> whole;
  for (const RunToken& token : index.whole()) whole.insert({token.run, token.id});
  EXPECT_EQ(whole, (std::set<std::pair<int, TokenId>>{{1, 0}, {2, 1}}));
  EXPECT_EQ(CutsOf(index), (std::set<Cut>{{1, 1, "\n"},
                                          {1, 2, "a"},
                                          {1, 3, " a"},
                                          {2, 3, "a"},
                                          {1, 5, "\n b c"},
                                          {2, 5, " b c"},
                                          {3, 5, "b c"}}));
}

TEST(RunIndexTest, LeavesOutWhatIsNoText) {
  std::bitset<256> space;
  space.set(' ');
  const std::string deep(TokenTrie::kMaxDepth + 1, ' ');
  const RunIndex index(*Of({" ", " a", deep}, {0}), space);
  EXPECT_TRUE(index.whole().empty());
  EXPECT_EQ(CutsOf(index), (std::set<Cut>{{1, 1, "a"}}));
}

TEST(RunIndexTest, HasEachTokenOfALongRunOnce) {
  std::bitset<256> space;
  space.set(' ').set('\n');
  const RunIndex index(*Of({" ", "  ", " \n  b", "   a", "a   ", " c"}), space);
  const auto longer = [&](std::uint32_t bytes) {
    std::vector<TokenId> ids;
    for (const RunToken& token : index.LongerThan(bytes)) ids.push_back(token.id);
    return ids;
  };
  EXPECT_EQ(longer(1), (std::vector<TokenId>{2, 3, 1}));
  EXPECT_EQ(longer(2), (std::vector<TokenId>{2, 3}));
  EXPECT_EQ(longer(3), (std::vector<TokenId>{2}));
  EXPECT_TRUE(longer(4).empty());
}

}  // namespace
}  // namespace maskd
