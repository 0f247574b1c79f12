// Which lists of merges say no more than the ids of what they make.
#include "grammar_core/tokenizer/formats/merge_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Lines = std::vector<std::string>;
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

// Nothing where the list is not understood.
std::optional<EncodingRules> RulesOf(const Lines& lines, const RawVocabulary& raw,
                                     Symbols symbols) {
  std::vector<MergeRule> merges;
  for (const std::string& line : lines) merges.push_back(MergeRule::FromLine(line));
  EncodingRules rules;
  rules.symbols = symbols;
  rules.atoms = raw.added_ids;
  return ReadMergeOrder(merges, raw, &rules) ? std::optional(rules) : std::nullopt;
}

bool AreByIds(const Lines& lines, const RawVocabulary& raw, Symbols symbols) {
  const std::optional<EncodingRules> rules = RulesOf(lines, raw, symbols);
  return rules.has_value() && rules->scores.empty();
}

TEST(MergeTest, IsTwoPiecesWithASpaceBetween) {
  const MergeRule merge = MergeRule::FromLine("ab c");
  EXPECT_TRUE(merge.is_pair());
  EXPECT_EQ(merge.made, "abc");
  EXPECT_EQ(merge.left(), "ab");
  EXPECT_EQ(merge.right(), "c");
  for (const char* line : {"", " ", "a", "a ", " a"})
    EXPECT_FALSE(MergeRule::FromLine(line).is_pair()) << line;
}

struct OrderCase {
  std::string name;
  std::vector<std::string> pieces;
  Lines merges;
  Symbols symbols;
  bool is_by_ids;
};

class MergeOrderTest : public testing::TestWithParam<OrderCase> {};

TEST_P(MergeOrderTest, IsThatOfTheIdsOrNot) {
  EXPECT_EQ(AreByIds(GetParam().merges, Raw(GetParam().pieces), GetParam().symbols),
            GetParam().is_by_ids);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, MergeOrderTest,
    testing::ValuesIn(std::vector<OrderCase>{
        {"NothingAtAll", {}, {}, kBytes, true},
        {"NoMerges", {"a", "b"}, {}, kBytes, true},
        {"InOrder", {"a", "b", "ab", "abb"}, {"a b", "ab b"}, kBytes, true},
        {"IdsWithGaps", {"", "ab", "a", "", "abb", "b"}, {"a b", "ab b"}, kBytes, true},
        {"TheSameTwice", {"a", "b", "ab", "aab"}, {"a b", "a b", "a ab"}, kBytes, true},
        {"TheSameAgainLater", {"a", "b", "ab", "aab"}, {"a b", "a ab", "a b"}, kBytes, false},
        {"OutOfOrder", {"a", "b", "abb", "ab"}, {"a b", "ab b"}, kBytes, false},
        {"MakesNoPiece", {"a", "b"}, {"a b"}, kBytes, false},
        {"OfNoFirstPiece", {"b", "ab"}, {"a b"}, kBytes, false},
        {"OfNoSecondPiece", {"a", "ab"}, {"a b"}, kBytes, false},
        {"OfOnePiece", {"a", ""}, {"a"}, kBytes, false},
        {"OfThreePieces", {"a", "b", "c", "abc"}, {"a b c"}, kBytes, false},
        {"OneIsMissing", {"a", "b", "ab", "bb"}, {"a b"}, kBytes, false},
        {"NoTwoPiecesMakeIt", {"a", "b", "c", "abc"}, {}, kBytes, true},
        {"NoTwoPiecesSpellIt", {"a", "b", "xyz"}, {}, kBytes, true},
    }),
    [](const auto& test) { return test.param.name; });

// By ids, a and b of abc are merged first, where ab is before bc.
INSTANTIATE_TEST_SUITE_P(
    Pairs, MergeOrderTest,
    testing::ValuesIn(std::vector<OrderCase>{
        {"TheLastOne", {"a", "b", "c", "ab", "bc", "abc"}, {"a b", "b c", "ab c"}, kBytes, true},
        {"AnotherOne", {"a", "b", "c", "ab", "bc", "abc"}, {"a b", "b c", "a bc"}, kBytes, false},
        {"AllOfThem",
         {"a", "b", "c", "ab", "bc", "abc"},
         {"a b", "b c", "a bc", "ab c"},
         kBytes,
         true},
        {"TheFirstIsMadeBefore",
         {"a", "b", "c", "bc", "ab", "abc"},
         {"b c", "a b", "a bc"},
         kBytes,
         true},
        {"MadeByIdsAlone",
         {"a", "b", "c", "d", "ab", "cd", "bc", "abcd"},
         {"a b", "c d", "b c"},
         kBytes,
         false},
        {"MadeByNeither", {"a", "b", "c", "ab", "bcd", "abcd"}, {"a b"}, kBytes, true},
    }),
    [](const auto& test) { return test.param.name; });

// A character is one symbol of characters, and two or more of bytes.
INSTANTIATE_TEST_SUITE_P(
    Characters, MergeOrderTest,
    testing::ValuesIn(std::vector<OrderCase>{
        {"IsASymbol", {"\xC3", "\xA9", "é"}, {}, kCharacters, true},
        {"IsMadeOfBytes", {"\xC3", "\xA9", "é"}, {"\xC3 \xA9"}, kBytes, true},
        {"IsNotMadeOfBytes", {"\xC3", "\xA9", "é"}, {}, kBytes, false},
        {"TwoAreNoSymbol", {"é", "à", "éà"}, {}, kCharacters, false},
        {"CutIsNoSymbol", {"\xE2", "\x96", "\xE2\x96"}, {}, kCharacters, false},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ReadMergeOrderTest, SpecialAndAddedTokensNeedNoMerge) {
  RawVocabulary raw = Raw({"a", "b", "ab", "ba"});
  raw.tokens[2].special = true;
  raw.added_ids = {3};
  EXPECT_TRUE(AreByIds({}, raw, kBytes));
  raw.added_ids.clear();
  EXPECT_FALSE(AreByIds({}, raw, kBytes));
}

TEST(ReadMergeOrderTest, UnusedTokensNeedNoMerge) {
  EncodingRules rules;
  rules.symbols = kBytes;
  rules.unused = {2};
  EXPECT_TRUE(ReadMergeOrder({}, Raw({"a", "b", "ab"}), &rules));
  rules.unused = {1};
  EXPECT_FALSE(ReadMergeOrder({}, Raw({"a", "b", "ab"}), &rules));
}

// The piece's spelling is what merges are of, and its bytes tell whether it is a symbol.
TEST(ReadMergeOrderTest, PiecesAreSpelledInTheirOwnAlphabet) {
  RawVocabulary raw;
  raw.id_by_piece = {{"Ġ", 0}, {"a", 1}, {"Ġa", 2}};
  raw.tokens = {{" ", false}, {"a", false}, {" a", false}};
  EXPECT_TRUE(AreByIds({"Ġ a"}, raw, kBytes));
  EXPECT_FALSE(AreByIds({"  a"}, raw, kBytes));
  EXPECT_FALSE(AreByIds({}, raw, kBytes));
}

// As Gemma's list begins: the longest run first, of which all pairs are listed.
TEST(ReadMergeOrderTest, AnotherOrderThanThatOfTheIdsIsOneOfScores) {
  const RawVocabulary raw = Raw({"a", "aa", "aaa", "b", "ab"});
  const std::optional<EncodingRules> rules = RulesOf({"aa a", "a aa", "a a", "a b"}, raw, kBytes);
  ASSERT_TRUE(rules.has_value());
  EXPECT_THAT(rules->scores, testing::ElementsAre(-4, -2, 0, -4, -3));
  EXPECT_THAT(rules->byte_tokens, testing::IsEmpty());
  // Of characters, all bytes must be there to stand in.
  EXPECT_FALSE(RulesOf({"aa a", "a aa", "a a", "a b"}, raw, kCharacters).has_value());
}

TEST(ReadMergeOrderTest, AMergeSpellsInBytesWhatItMakes) {
  RawVocabulary raw;
  raw.id_by_piece = {{"<0x41>", 0}, {"b", 1}, {"<0x41>b", 2}};
  raw.tokens = {{"A", false}, {"b", false}, {"<0x41>b", false}};
  EXPECT_FALSE(RulesOf({"<0x41> b"}, raw, kCharacters).has_value());
}

// What would be slow to look at is not understood.
TEST(ReadMergeOrderTest, ManyLongPiecesAreNotLookedAt) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 63; ++i) pieces.push_back(std::string(4096 - i, 'a'));
  EXPECT_TRUE(AreByIds({}, Raw(pieces), kBytes));
  for (int i = 0; i < 3; ++i) pieces.push_back(std::string(4096 - i, 'b'));
  EXPECT_FALSE(AreByIds({}, Raw(pieces), kBytes));
}

// The pieces that the list makes of a text: of all pairs the first of the list, and of equal ones
// the leftmost, until there is none.
std::vector<std::string> MergedByList(const std::string& text, const Lines& list) {
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  while (true) {
    std::size_t best = list.size();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = std::find(list.begin(), list.end(), parts[i] + " " + parts[i + 1]);
      const auto rank = static_cast<std::size_t>(found - list.begin());
      if (rank < best) {
        best = rank;
        place = i;
      }
    }
    if (best == list.size()) return parts;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// As MergedByList(), by the ids of what is made, or by the scores of those.
std::vector<std::string> MergedByOrder(const std::string& text, const RawVocabulary& raw,
                                       const std::vector<float>& scores) {
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  while (true) {
    float best = std::numeric_limits<float>::max();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = raw.id_by_piece.find(parts[i] + parts[i + 1]);
      if (found == raw.id_by_piece.end()) continue;
      const auto id = static_cast<std::size_t>(found->second);
      const float rank = scores.empty() ? static_cast<float>(id) : -scores[id];
      if (rank < best) {
        best = rank;
        place = i;
      }
    }
    if (best == std::numeric_limits<float>::max()) return parts;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// A text of up to six letters that the two cut in another way, or none.
std::string TextThatDiffers(const Lines& list, const RawVocabulary& raw,
                            const std::vector<float>& scores = {}) {
  Lines texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (MergedByList(texts[i], list) != MergedByOrder(texts[i], raw, scores)) return texts[i];
    if (texts[i].size() == 6) continue;
    for (const char c : {'a', 'b', 'c'}) texts.push_back(texts[i] + c);
  }
  return "";
}

// Lists that are in order are by ids exactly if no text tells them apart.
TEST(ReadMergeOrderTest, EveryShortTextTellsTheSame) {
  std::mt19937 random(5);
  int by_ids = 0;
  int others = 0;
  int shuffled = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> pieces = {"a", "b", "c"};
    Lines list;
    for (int made = 0; made < 5; ++made) {
      const std::string left = pieces[random() % pieces.size()];
      const std::string right = pieces[random() % pieces.size()];
      const std::string both = left + right;
      if (both.size() > 4 || std::find(pieces.begin(), pieces.end(), both) != pieces.end())
        continue;
      pieces.push_back(both);
      // Some of the pairs that spell it, among which may be the last one.
      for (std::size_t cut = 1; cut < both.size(); ++cut) {
        const bool are_pieces =
            std::find(pieces.begin(), pieces.end(), both.substr(0, cut)) != pieces.end() &&
            std::find(pieces.begin(), pieces.end(), both.substr(cut)) != pieces.end();
        if (are_pieces && random() % 8 > 0)
          list.push_back(both.substr(0, cut) + " " + both.substr(cut));
      }
    }
    const RawVocabulary raw = Raw(pieces);
    const std::string text = TextThatDiffers(list, raw);
    const bool are_by_ids = AreByIds(list, raw, kBytes);
    ASSERT_EQ(are_by_ids, text.empty())
        << absl::StrJoin(pieces, " ") << "; " << absl::StrJoin(list, ", ") << "; " << text;
    ++(are_by_ids ? by_ids : others);
    std::shuffle(list.begin(), list.end(), random);
    const std::optional<EncodingRules> rules = RulesOf(list, raw, kBytes);
    if (!rules.has_value()) continue;
    ++shuffled;
    ASSERT_EQ(TextThatDiffers(list, raw, rules->scores), "")
        << absl::StrJoin(pieces, " ") << "; " << absl::StrJoin(list, ", ");
  }
  EXPECT_GT(by_ids, 100);
  EXPECT_GT(others, 100);
  EXPECT_GT(shuffled, 50);
}

}  // namespace
}  // namespace maskd
