// The best way through a piece against all ways, spelled out.
#include "grammar_core/tokenizer/best_sum.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

struct ScoredToken {
  std::string bytes;
  float score;
};

std::shared_ptr<const Vocabulary> Unigrams(const std::vector<ScoredToken>& scored) {
  std::vector<Vocabulary::Token> tokens;
  EncodingRules rules;
  rules.symbols = EncodingRules::Symbols::kCharacters;
  rules.method = EncodingRules::Method::kBestSum;
  for (const ScoredToken& token : scored) {
    tokens.push_back({token.bytes});
    rules.scores.push_back(token.score);
  }
  return *Vocabulary::Create("test", std::move(tokens), {}, std::move(rules));
}

struct Way {
  double sum = 0;
  std::vector<std::string> parts;
};

// All ways to spell `text`, which is ASCII.
std::vector<Way> AllWays(const std::string& text, const Vocabulary& vocabulary, double unknown) {
  if (text.empty()) return {Way()};
  std::vector<Way> ways;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    double score = unknown;
    bool is_token = false;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.TokenBytes(id) != text.substr(0, size)) continue;
      score = vocabulary.encoding_rules().scores[static_cast<std::size_t>(id)];
      is_token = true;
    }
    if (!is_token && size > 1) continue;
    for (Way& way : AllWays(text.substr(size), vocabulary, unknown)) {
      way.sum += score;
      way.parts.insert(way.parts.begin(), text.substr(0, size));
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

std::size_t Bytes(const std::vector<std::string>& parts, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += parts[i].size();
  return bytes;
}

// Bytes of the parts that all ways near the best one begin with.
std::size_t CommonBytes(const std::vector<Way>& ways, double best, double tie) {
  const Way* first = nullptr;
  std::size_t common = 0;
  for (const Way& way : ways) {
    if (way.sum < best - tie) continue;
    if (first == nullptr) {
      first = &way;
      common = way.parts.size();
    }
    std::size_t same = 0;
    while (same < common && same < way.parts.size() && way.parts[same] == first->parts[same])
      ++same;
    common = same;
  }
  return Bytes(first->parts, common);
}

std::vector<ScoredToken> RandomTokens(std::mt19937_64* random) {
  std::vector<ScoredToken> tokens;
  for (const char* bytes : {"a", "b", "ab", "ba", "aa", "aba", "bb", "abab", "c"}) {
    if ((*random)() % 4 == 0) continue;
    tokens.push_back({bytes, -static_cast<float>((*random)() % 8) / 2});
  }
  tokens.push_back({"d", -1});
  return tokens;
}

TEST(BestSumTest, IsTheBestOfAllWays) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 400; ++round) {
    const auto vocabulary = Unigrams(RandomTokens(&random));
    const std::vector<bool> left_out(static_cast<std::size_t>(vocabulary->size()));
    const OrdinaryTokens tokens(*vocabulary, left_out);
    const TokenScores scores = TokenScores::Create(*vocabulary, left_out);
    std::string text;
    for (std::uint64_t i = random() % 9; i > 0; --i) text.push_back("abcd"[random() % 4]);
    const BestSum best(text, tokens, scores);

    const std::vector<Way> ways = AllWays(text, *vocabulary, scores.of_unknown);
    double greatest = ways[0].sum;
    for (const Way& way : ways) greatest = std::max(greatest, way.sum);
    double found = 0;
    std::string joined;
    for (const absl::string_view part : best.PartsTo(text.size())) {
      const TokenId id = tokens.Find(part);
      found += id == OrdinaryTokens::kNone ? scores.of_unknown
                                           : scores.of_token[static_cast<std::size_t>(id)];
      absl::StrAppend(&joined, part);
    }
    EXPECT_EQ(joined, text);
    EXPECT_DOUBLE_EQ(found, greatest) << text;
    EXPECT_LE(best.CertainTo(text.size()), CommonBytes(ways, greatest, BestSum::kTie)) << text;
    if (CommonBytes(ways, greatest, 1.0) == text.size())
      EXPECT_EQ(best.CertainTo(text.size()), text.size()) << text;
  }
}

TEST(BestSumTest, TwoEqualWaysAreNotCertain) {
  const auto vocabulary = Unigrams({{"a", -1}, {"aa", -1}, {"b", -1}});
  const std::vector<bool> left_out(3);
  const OrdinaryTokens tokens(*vocabulary, left_out);
  const BestSum best("baaa", tokens, TokenScores::Create(*vocabulary, left_out));
  EXPECT_EQ(best.CertainTo(3), 3U);
  EXPECT_EQ(best.CertainTo(4), 1U);
  EXPECT_EQ(best.Meet(3, best.CertainTo(4)), 1U);
}

}  // namespace
}  // namespace maskd
