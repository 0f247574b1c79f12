// Which lists of merges say no more than the ids of what they make.
#include "grammar_core/tokenizer/formats/merge_order.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

constexpr auto kBytes = Symbols::kBytes;
constexpr auto kCharacters = Symbols::kCharacters;

// Each piece stands for itself; an empty one is a gap.
RawVocabulary Raw(const std::vector<std::string>& pieces) {
  RawVocabulary raw;
  for (const std::string& piece : pieces) {
    if (!piece.empty()) raw.id_by_piece.emplace(piece, static_cast<TokenId>(raw.tokens.size()));
    raw.tokens.push_back({piece, false});
  }
  return raw;
}

struct OrderCase {
  std::string name;
  std::vector<std::string> pieces;
  std::vector<std::string> made;
  Symbols symbols;
  bool is_by_ids;
};

class MergeOrderTest : public testing::TestWithParam<OrderCase> {};

TEST_P(MergeOrderTest, IsThatOfTheIdsOrNot) {
  EXPECT_EQ(MergesAreByIds(GetParam().made, Raw(GetParam().pieces), GetParam().symbols),
            GetParam().is_by_ids);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, MergeOrderTest,
    testing::ValuesIn(std::vector<OrderCase>{
        {"NothingAtAll", {}, {}, kBytes, true},
        {"NoMerges", {"a", "b"}, {}, kBytes, true},
        {"InOrder", {"a", "b", "ab", "abb"}, {"ab", "abb"}, kBytes, true},
        {"IdsWithGaps", {"", "ab", "a", "", "abb", "b"}, {"ab", "abb"}, kBytes, true},
        {"TheSameTwice", {"a", "b", "ab", "aab"}, {"ab", "ab", "aab"}, kBytes, true},
        {"TheSameAgainLater", {"a", "b", "ab", "aab"}, {"ab", "aab", "ab"}, kBytes, false},
        {"OutOfOrder", {"a", "b", "abb", "ab"}, {"ab", "abb"}, kBytes, false},
        {"OfNoPiece", {"a", "b"}, {"ab"}, kBytes, false},
        {"OfNothing", {"a", ""}, {""}, kBytes, false},
        {"OneIsMissing", {"a", "b", "ab", "bb"}, {"ab"}, kBytes, false},
        {"OneOfThreeIsMissing", {"a", "b", "c", "abc"}, {}, kBytes, true},
        {"NoTwoPiecesSpellIt", {"a", "b", "xyz"}, {}, kBytes, true},
    }),
    [](const auto& test) { return test.param.name; });

// A character is one symbol of characters, and two or more of bytes.
INSTANTIATE_TEST_SUITE_P(
    Characters, MergeOrderTest,
    testing::ValuesIn(std::vector<OrderCase>{
        {"IsASymbol", {"\xC3", "\xA9", "é"}, {}, kCharacters, true},
        {"IsMadeOfBytes", {"\xC3", "\xA9", "é"}, {"é"}, kBytes, true},
        {"IsNotMadeOfBytes", {"\xC3", "\xA9", "é"}, {}, kBytes, false},
        {"TwoAreNoSymbol", {"é", "à", "éà"}, {}, kCharacters, false},
        {"CutIsNoSymbol", {"\xE2", "\x96", "\xE2\x96"}, {}, kCharacters, false},
    }),
    [](const auto& test) { return test.param.name; });

TEST(MergesAreByIdsTest, SpecialAndAddedTokensNeedNoMerge) {
  RawVocabulary raw = Raw({"a", "b", "ab", "ba"});
  raw.tokens[2].special = true;
  raw.added_ids = {3};
  EXPECT_TRUE(MergesAreByIds({}, raw, kBytes));
  raw.added_ids.clear();
  EXPECT_FALSE(MergesAreByIds({}, raw, kBytes));
}

// The piece's spelling is what merges make, and its bytes tell whether it is a symbol.
TEST(MergesAreByIdsTest, PiecesAreSpelledInTheirOwnAlphabet) {
  RawVocabulary raw;
  raw.id_by_piece = {{"Ġ", 0}, {"a", 1}, {"Ġa", 2}};
  raw.tokens = {{" ", false}, {"a", false}, {" a", false}};
  EXPECT_TRUE(MergesAreByIds({"Ġa"}, raw, kBytes));
  EXPECT_FALSE(MergesAreByIds({" a"}, raw, kBytes));
  EXPECT_FALSE(MergesAreByIds({}, raw, kBytes));
}

// What would be slow to look at is not understood.
TEST(MergesAreByIdsTest, ALongPieceThatNoMergeMakesIsNotLookedAt) {
  EXPECT_TRUE(MergesAreByIds({}, Raw({std::string(256, 'a')}), kBytes));
  EXPECT_FALSE(MergesAreByIds({}, Raw({std::string(257, 'a')}), kBytes));
  EXPECT_TRUE(MergesAreByIds({std::string(257, 'a')}, Raw({std::string(257, 'a')}), kBytes));
}

}  // namespace
}  // namespace maskd
