#include "grammar_core/automaton/item_tokens.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/mask/token_index.h"

namespace maskd {
namespace {

class ItemTokensTest : public testing::Test {
 protected:
  [[nodiscard]] std::set<std::string> Spelled(const ItemTokens::Tokens& ids) const {
    std::set<std::string> texts;
    for (const TokenId id : ids) texts.emplace(index_.vocabulary().TokenBytes(id));
    return texts;
  }
  [[nodiscard]] const ItemTokens& tokens() const { return tokens_; }

 private:
  static std::shared_ptr<const Vocabulary> Words() {
    std::vector<Vocabulary::Token> tokens;
    for (const char* word : {"a", "1,2", ",", "x,y", "\",\"", "]", "[1,2", "a\",[1,", "{\"b\""})
      tokens.push_back({word});
    tokens.push_back({"<end>", true});
    return *Vocabulary::Create("words", std::move(tokens), {9});
  }
  const TokenIndex index_{Words()};
  const ItemTokens tokens_{&index_};
};

using Texts = std::set<std::string>;

TEST_F(ItemTokensTest, OutsideOfStringsACommaStandsBehindAValue) {
  EXPECT_EQ(Spelled(tokens().Holding(false)), (Texts{"1,2", ",", "\",\"", "[1,2", "a\",[1,"}));
}

TEST_F(ItemTokensTest, WithinAStringItHasToEndFirst) {
  EXPECT_EQ(Spelled(tokens().Holding(true)), (Texts{"\",\"", "a\",[1,"}));
}

TEST_F(ItemTokensTest, AnArrayMayBeginBeforeTheComma) {
  EXPECT_EQ(Spelled(tokens().BeginningArray(false)), (Texts{"[1,2", "a\",[1,"}));
  EXPECT_EQ(Spelled(tokens().BeginningArray(true)), (Texts{"a\",[1,"}));
}

TEST_F(ItemTokensTest, MayBeginArrayNeedsACommaBehindTheBracket) {
  EXPECT_TRUE(ItemTokens::MayBeginArray("[1,"));
  EXPECT_TRUE(ItemTokens::MayBeginArray("{\"a\":1,"));
  EXPECT_FALSE(ItemTokens::MayBeginArray(",["));
  EXPECT_FALSE(ItemTokens::MayBeginArray("1,2"));
  EXPECT_FALSE(ItemTokens::MayBeginArray(""));
}

// What ends a string is either known by its parts or read again.
TEST_F(ItemTokensTest, EachEndIsOfOneKind) {
  std::multiset<TokenId> both(tokens().OtherEnds().begin(), tokens().OtherEnds().end());
  for (const ItemTokens::End& end : tokens().ends()) both.insert(end.id);
  EXPECT_EQ(both,
            std::multiset<TokenId>(tokens().Holding(true).begin(), tokens().Holding(true).end()));
}

}  // namespace
}  // namespace maskd
