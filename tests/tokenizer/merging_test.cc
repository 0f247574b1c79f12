// Symbols and the merges of neighbours, of few tokens whose order decides.
#include "grammar_core/tokenizer/merging.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/ordinary_tokens.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Symbols = Merging::Symbols;
using std::string_literals::operator""s;

class Tokens {
 public:
  explicit Tokens(const std::vector<std::string>& texts, std::vector<float> scores = {})
      : vocabulary_(Make(texts, std::move(scores))),
        tokens_(*vocabulary_, std::vector<bool>(texts.size())),
        rank_of_([this](absl::string_view bytes) { return tokens_.RankOf(bytes); }) {}
  const OrdinaryTokens& operator*() const { return tokens_; }
  Merging::Ranks ranks() const { return rank_of_; }

 private:
  static std::shared_ptr<const Vocabulary> Make(const std::vector<std::string>& texts,
                                                std::vector<float> scores) {
    std::vector<Vocabulary::Token> tokens;
    for (const std::string& text : texts) tokens.push_back({text, false});
    EncodingRules rules;
    rules.scores = std::move(scores);
    return Vocabulary::Create("test", std::move(tokens), {}, std::move(rules)).value();
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  OrdinaryTokens tokens_;
  std::function<int(absl::string_view)> rank_of_;
};

struct MergeCase {
  std::string name;
  std::vector<std::string> tokens;
  Symbols symbols;
  std::string piece;
  std::vector<std::string> parts;
  std::vector<float> scores = {};
};

class MergingTest : public testing::TestWithParam<MergeCase> {};

TEST_P(MergingTest, LeavesTheseParts) {
  const Tokens tokens(GetParam().tokens, GetParam().scores);
  const std::vector<absl::string_view> parts =
      Merging(GetParam().piece, GetParam().symbols, tokens.ranks()).Parts();
  EXPECT_EQ(std::vector<std::string>(parts.begin(), parts.end()), GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, MergingTest,
    testing::ValuesIn(std::vector<MergeCase>{
        {"Nothing", {"a"}, Symbols::kBytes, "", {}},
        {"OneSymbol", {"b"}, Symbols::kBytes, "a", {"a"}},
        {"TheLowestFirst", {"a", "b", "c", "bc", "ab"}, Symbols::kBytes, "abc", {"a", "bc"}},
        {"ThenTheNext", {"a", "bc", "ab", "abc"}, Symbols::kBytes, "abc", {"abc"}},
        {"TheLeftmostOfEquals", {"aa"}, Symbols::kBytes, "aaa", {"aa", "a"}},
        {"PairsOfPairs", {"aa", "aaaa"}, Symbols::kBytes, "aaaaaaa", {"aaaa", "aa", "a"}},
        {"NoPairLeadsToAToken", {"a", "b", "c", "abc"}, Symbols::kBytes, "abc", {"a", "b", "c"}},
        {"AWholeTokenMayBeMissed",
         {"bc", "ab", "cd", "abcd"},
         Symbols::kBytes,
         "abcd",
         {"a", "bc", "d"}},
        {"AMergeOpensALowerOne", {"abc", "ab", "cd"}, Symbols::kBytes, "abcd", {"abc", "d"}},
        {"ByScores", {"ab", "bc"}, Symbols::kBytes, "abc", {"a", "bc"}, {1, 2}},
        {"OfEqualScoresTheLeftmost", {"bc", "ab"}, Symbols::kBytes, "abc", {"ab", "c"}, {3, 3}},
        {"ANullByte", {"a\0"s, "\0b"s}, Symbols::kBytes, "a\0b"s, {"a\0"s, "b"}},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Symbols, MergingTest,
    testing::ValuesIn(std::vector<MergeCase>{
        {"BytesOfACharacter", {"é"}, Symbols::kBytes, "é", {"é"}},
        {"BytesOfNoToken", {"a"}, Symbols::kBytes, "é", {"\xC3", "\xA9"}},
        {"Characters", {"a"}, Symbols::kCharacters, "aé😀", {"a", "é", "😀"}},
        {"AMergeWithinACharacter", {"\xC3\xA9"s}, Symbols::kCharacters, "é", {"é"}},
        {"KnownCharacters", {"é"}, Symbols::kKnownCharacters, "é▁", {"é", "\xE2", "\x96", "\x81"}},
        {"BytesOfAnUnknownOneAreMerged",
         {"\x96\x81"},
         Symbols::kKnownCharacters,
         "▁",
         {"\xE2", "\x96\x81"}},
        {"NotUtf8", {"é"}, Symbols::kCharacters, "\xA9é\xC3", {"\xA9", "é", "\xC3"}},
        {"Surrogate", {"é"}, Symbols::kCharacters, "\xED\xA0\x80", {"\xED", "\xA0", "\x80"}},
    }),
    [](const auto& test) { return test.param.name; });

// All texts of up to seven of two letters: together the parts are the piece, each is a token or a
// letter, and no two neighbours are a token.
TEST(MergingPropertyTest, NothingIsLeftToMerge) {
  const Tokens tokens({"a", "ba", "ab", "aab", "abba", "bb"});
  for (unsigned bits = 2; bits < 256; ++bits) {
    std::string piece;
    for (unsigned rest = bits; rest > 1; rest /= 2) piece += rest % 2 == 0 ? 'a' : 'b';
    const std::vector<absl::string_view> parts =
        Merging(piece, Symbols::kBytes, tokens.ranks()).Parts();
    EXPECT_EQ(absl::StrJoin(parts, ""), piece);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_TRUE(parts[i].size() == 1 || (*tokens).Find(parts[i]) != OrdinaryTokens::kNone);
      if (i == 0) continue;
      const std::string pair = std::string(parts[i - 1]) + std::string(parts[i]);
      EXPECT_EQ((*tokens).Find(pair), OrdinaryTokens::kNone) << piece;
    }
  }
}

}  // namespace
}  // namespace maskd
