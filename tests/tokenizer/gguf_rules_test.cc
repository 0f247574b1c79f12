// How the models of GGUF files cut texts, by the names of their pre-tokenizers.
#include "grammar_core/tokenizer/formats/gguf_rules.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/scored_pieces.h"
#include "grammar_core/tokenizer/piece_pattern.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;
using testing::ElementsAre;
using testing::IsEmpty;

// a, b, c, ab, abc, a space's piece that no merge makes, and two added tokens.
RawVocabulary Raw() {
  RawVocabulary raw;
  for (const char* piece : {"a", "b", "c", "ab", "abc", "Ġ", "<x>", "▁▁"}) {
    raw.id_by_piece.emplace(piece, static_cast<TokenId>(raw.tokens.size()));
    raw.tokens.push_back({piece, false});
  }
  raw.tokens[5].bytes = " ";
  raw.added_ids = {6, 7};
  return raw;
}

GgufFacts Facts(absl::string_view pre) {
  GgufFacts facts;
  facts.model = "gpt2";
  facts.pre = std::string(pre);
  facts.merges = {"a b", "ab c"};
  return facts;
}

struct PreCase {
  std::string name;
  std::string pre;
  bool whole_pieces;
  bool ascii_only;
  std::vector<std::string> pieces;
};

class PreTokenizerTest : public testing::TestWithParam<PreCase> {};

// As the models' own tokenizers cut it.
constexpr char kText[] = "I'LL it's x12345 _a\n\n  b";

TEST_P(PreTokenizerTest, CutsAsItsModelDoes) {
  const EncodingRules rules = RulesOf(Facts(GetParam().pre), Raw());
  EXPECT_EQ(rules.symbols, Symbols::kBytes);
  EXPECT_EQ(rules.method, EncodingRules::Method::kMerges);
  EXPECT_EQ(rules.whole_pieces, GetParam().whole_pieces);
  EXPECT_EQ(rules.ascii_only, GetParam().ascii_only);
  EXPECT_FALSE(rules.marks_spaces);
  EXPECT_THAT(rules.scores, IsEmpty());
  std::vector<absl::string_view> pieces = {kText};
  for (const std::string& pattern : rules.patterns) {
    const std::unique_ptr<const PiecePattern> made = PiecePattern::Create(pattern);
    ASSERT_NE(made, nullptr) << pattern;
    std::vector<absl::string_view> finer;
    for (const absl::string_view piece : pieces) made->Cut(piece, &finer);
    pieces = finer;
  }
  EXPECT_EQ(std::vector<std::string>(pieces.begin(), pieces.end()), GetParam().pieces);
}

INSTANTIATE_TEST_SUITE_P(
    Names, PreTokenizerTest,
    testing::ValuesIn(std::vector<PreCase>{
        {"Gpt2",
         "gpt-2",
         false,
         false,
         {"I", "'", "LL", " it", "'s", " x", "12345", " _", "a", "\n\n ", " b"}},
        {"Llama3",
         "llama-bpe",
         true,
         false,
         {"I", "'LL", " it", "'s", " x", "123", "45", " _", "a", "\n\n", " ", " b"}},
        {"Qwen2",
         "qwen2",
         false,
         true,
         {"I", "'LL", " it", "'s", " x", "1", "2", "3", "4", "5", " _", "a", "\n\n", " ", " b"}},
        {"CommandR",
         "command-r",
         false,
         true,
         {"I", "'", "LL", " it", "'s", " x", "1", "2", "3", "4", "5", " _", "a", "\n\n ", " b"}},
        {"SmolLm",
         "smollm",
         false,
         false,
         {"I", "'", "LL", " it", "'s", " x", "1", "2", "3", "4", "5", " _", "a", "\n\n ", " b"}},
        {"Gpt4o",
         "gpt-4o",
         true,
         true,
         {"I'LL", " it's", " x", "123", "45", " _", "a", "\n\n", " ", " b"}},
        {"Tekken",
         "tekken",
         true,
         true,
         {"I", "'LL", " it", "'s", " x", "1", "2", "3", "4", "5", " _", "a", "\n\n", " ", " b"}},
        {"DeepSeekCoder",
         "deepseek-coder",
         false,
         false,
         {"I", "'", "LL", " it", "'", "s", " x", "1", "2", "3", "4", "5", " _", "a", "\n", "\n",
          " ", " b"}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(GgufRulesTest, AddedTokensAreAtomsAndOtherAlphabetsUnused) {
  const EncodingRules rules = RulesOf(Facts("gpt-2"), Raw());
  EXPECT_THAT(rules.atoms, ElementsAre(6, 7));
  EXPECT_THAT(rules.unused, ElementsAre(7));
}

// By its model's name, or by that of its pre-tokenizer.
TEST(GgufRulesTest, Gemma4IsOfCharactersThatNothingCuts) {
  GgufFacts by_model = Facts("");
  by_model.model = "gemma4";
  RawVocabulary raw = Raw();
  raw.id_by_piece.emplace("a b", static_cast<TokenId>(raw.tokens.size()));
  raw.tokens.push_back({"a b", false});
  for (const GgufFacts& facts : {by_model, Facts("gemma4")}) {
    const EncodingRules rules = RulesOf(facts, raw);
    EXPECT_EQ(rules.symbols, Symbols::kCharacters);
    EXPECT_EQ(rules.method, EncodingRules::Method::kMerges);
    EXPECT_TRUE(rules.marks_spaces);
    EXPECT_THAT(rules.patterns, IsEmpty());
    EXPECT_THAT(rules.atoms, ElementsAre(6, 7));
    EXPECT_THAT(rules.unused, ElementsAre(8));
  }
}

struct UnknownCase {
  std::string name;
  std::string model;
  std::string pre;
  std::vector<std::string> merges;
};

class UnknownRulesTest : public testing::TestWithParam<UnknownCase> {};

TEST_P(UnknownRulesTest, AreNoError) {
  GgufFacts facts;
  facts.model = GetParam().model;
  facts.pre = GetParam().pre;
  facts.merges = GetParam().merges;
  const EncodingRules rules = RulesOf(facts, Raw());
  EXPECT_EQ(rules.symbols, Symbols::kUnknown);
  EXPECT_THAT(rules.patterns, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Facts, UnknownRulesTest,
                         testing::ValuesIn(std::vector<UnknownCase>{
                             {"Nothing", "", "", {}},
                             {"NoPre", "gpt2", "", {"a b", "ab c"}},
                             {"OtherPre", "gpt2", "gpt2", {"a b", "ab c"}},
                             {"PreInCapitals", "gpt2", "GPT-2", {"a b", "ab c"}},
                             {"OtherModel", "t5", "gpt-2", {"a b", "ab c"}},
                             {"LlamaWithoutScores", "llama", "gpt-2", {"a b", "ab c"}},
                             {"NoMerges", "gpt2", "gpt-2", {}},
                             {"OneIsMissing", "gpt2", "gpt-2", {"a b"}},
                             {"NoSpace", "gpt2", "gpt-2", {"a b", "ab c", "abc"}},
                             {"Empty", "gpt2", "gpt-2", {"a b", "ab c", ""}},
                             {"SpaceAlone", "gpt2", "gpt-2", {"a b", "ab c", " "}},
                             {"NoFirstPiece", "gpt2", "gpt-2", {"a b", "ab c", " abc"}},
                             {"NoSecondPiece", "gpt2", "gpt-2", {"a b", "ab c", "abc "}},
                             {"ThreePieces", "gpt2", "gpt-2", {"a b", "a b c"}},
                         }),
                         [](const auto& test) { return test.param.name; });

// Each token has a score, or the scores say nothing.
TEST(GgufRulesTest, LlamaNeedsAScoreForEachToken) {
  const RawVocabulary raw = Raw();
  GgufFacts facts;
  facts.model = "llama";
  facts.scored.model = ScoredPieces::Model::kMerges;
  facts.scored.pieces.assign(raw.tokens.size() - 1, {-1, ScoredPieces::Kind::kNormal});
  EXPECT_EQ(RulesOf(facts, raw).symbols, Symbols::kUnknown);
  facts.scored.pieces.push_back({-3, ScoredPieces::Kind::kUserDefined});
  const EncodingRules rules = RulesOf(facts, raw);
  EXPECT_EQ(rules.symbols, Symbols::kCharacters);
  EXPECT_EQ(rules.method, EncodingRules::Method::kMerges);
  EXPECT_THAT(rules.scores, ElementsAre(-1, -1, -1, -1, -1, -1, -1, -3));
  EXPECT_THAT(rules.atoms, ElementsAre(7));
  facts.scored.pieces.push_back({-3, ScoredPieces::Kind::kNormal});
  EXPECT_EQ(RulesOf(facts, raw).symbols, Symbols::kUnknown);
}

}  // namespace
}  // namespace maskd
