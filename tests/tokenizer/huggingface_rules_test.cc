// What is understood of how a tokenizer.json says that texts are cut; anything else is unknown.
#include "grammar_core/tokenizer/formats/huggingface_rules.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/tokenizer/encoding_rules.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/tokenizer_document.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;
using testing::ElementsAre;
using testing::IsEmpty;

// The rules of a file with these fields, of which the model has two merges.
EncodingRules RulesOf(absl::string_view fields, absl::string_view model) {
  const TokenizerDocument document =
      ReadTokenizerDocument(
          absl::StrCat("{", fields, R"("model": {"merges": ["a b", ["ab", "c"]], )", model, "}}"))
          .value();
  RawVocabulary raw;
  for (const char* piece : {"a", "b", "c", "ab", "abc", "<x>"}) {
    raw.id_by_piece.emplace(piece, static_cast<TokenId>(raw.tokens.size()));
    raw.tokens.push_back({piece, false});
  }
  raw.added_ids = {5};
  return ReadHuggingFaceRules(document.tree, document, raw);
}

constexpr char kBpe[] = R"("type": "BPE")";
constexpr char kFallback[] = R"("type": "BPE", "byte_fallback": true)";
constexpr char kByteLevel[] = R"({"type": "ByteLevel", "use_regex": false})";
constexpr char kSplit[] = R"({"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Isolated"})";
constexpr char kDigits[] = R"({"type": "Digits"})";
constexpr char kUncut[] = R"({"type": "Metaspace", "split": false})";

std::string Pre(absl::string_view part) { return absl::StrCat(R"("pre_tokenizer": )", part, ","); }

std::string Sequence(absl::string_view parts) {
  return Pre(absl::StrCat(R"({"type": "Sequence", "pretokenizers": [)", parts, "]}"));
}

std::string Normalizer(absl::string_view part) {
  return absl::StrCat(R"("normalizer": )", part, ",");
}

std::string Replace(absl::string_view from, absl::string_view to) {
  return Normalizer(absl::StrCat(R"({"type": "Replace", "pattern": {"String": ")", from,
                                 R"("}, "content": ")", to, R"("})"));
}

TEST(HuggingFaceRulesTest, BytesAreCutAtEachPatternInTurn) {
  const EncodingRules rules = RulesOf(Sequence(absl::StrCat(kSplit, ",", kDigits, ",", kByteLevel)),
                                      absl::StrCat(kBpe, R"(, "ignore_merges": true)"));
  EXPECT_EQ(rules.symbols, Symbols::kBytes);
  EXPECT_EQ(rules.method, EncodingRules::Method::kMerges);
  EXPECT_THAT(rules.patterns, ElementsAre("x", R"(\p{N}+)"));
  EXPECT_THAT(rules.atoms, ElementsAre(5));
  EXPECT_THAT(rules.scores, IsEmpty());
  EXPECT_TRUE(rules.whole_pieces);
  EXPECT_FALSE(rules.marks_spaces);
  EXPECT_FALSE(rules.ascii_only);
}

TEST(HuggingFaceRulesTest, CharactersAreNotCut) {
  const EncodingRules rules = RulesOf(Replace(" ", "▁") + Pre(kUncut), kFallback);
  EXPECT_EQ(rules.symbols, Symbols::kCharacters);
  EXPECT_THAT(rules.patterns, IsEmpty());
  EXPECT_THAT(rules.atoms, ElementsAre(5));
  EXPECT_TRUE(rules.marks_spaces);
  EXPECT_FALSE(rules.whole_pieces);
}

TEST(HuggingFaceRulesTest, NfcHoldsForAsciiAlone) {
  EXPECT_TRUE(RulesOf(Normalizer(R"({"type": "NFC"})") + Pre(kByteLevel), kBpe).ascii_only);
  EXPECT_TRUE(
      RulesOf(Normalizer(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}]})"), kFallback)
          .ascii_only);
}

struct RulesCase {
  std::string name;
  std::string fields;
  std::string model;
  Symbols symbols = Symbols::kUnknown;
};

class RulesTest : public testing::TestWithParam<RulesCase> {};

TEST_P(RulesTest, AreKnownOrNot) {
  const EncodingRules rules = RulesOf(GetParam().fields, GetParam().model);
  EXPECT_EQ(rules.symbols, GetParam().symbols);
  if (rules.symbols == Symbols::kUnknown) EXPECT_THAT(rules.patterns, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Models, RulesTest,
                         testing::ValuesIn(std::vector<RulesCase>{
                             {"Bpe", Pre(kByteLevel), kBpe, Symbols::kBytes},
                             {"WithoutAType", Pre(kByteLevel), R"("x": 1)", Symbols::kBytes},
                             {"Unigram", Pre(kByteLevel), R"("type": "Unigram")"},
                             {"WordLevel", Pre(kByteLevel), R"("type": "WordLevel")"},
                             {"Dropout", Pre(kByteLevel), R"("type": "BPE", "dropout": 0.5)"},
                             {"DropoutIsNull", Pre(kByteLevel), R"("type": "BPE", "dropout": null)",
                              Symbols::kBytes},
                             {"NeitherBytesNorFallback", "", kBpe},
                             {"FallbackIsOne", "", R"("type": "BPE", "byte_fallback": 1)"},
                             {"BytesBeforeFallback", Pre(kByteLevel), kFallback, Symbols::kBytes},
                         }),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Characters, RulesTest,
    testing::ValuesIn(std::vector<RulesCase>{
        {"NoPreTokenizer", "", kFallback, Symbols::kCharacters},
        {"ANullPreTokenizer", Pre("null"), kFallback, Symbols::kCharacters},
        {"CutAtSpaces", Pre(R"({"type": "Metaspace", "split": true})"), kFallback},
        {"CutAtSpacesByDefault", Pre(R"({"type": "Metaspace"})"), kFallback},
        {"CutAtMatches", Pre(kSplit), kFallback},
        {"CutAtDigits", Pre(kDigits), kFallback},
        {"CutInASequence", Sequence(absl::StrCat(kUncut, ",", kSplit)), kFallback},
        {"UncutInASequence", Sequence(kUncut), kFallback, Symbols::kCharacters},
        {"UncutWithAnotherMark",
         Pre(R"({"type": "Metaspace", "split": false, "replacement": "_"})"), kFallback},
        {"UncutWithItsMark", Pre(R"({"type": "Metaspace", "split": false, "replacement": "▁"})"),
         kFallback, Symbols::kCharacters},
        {"UncutOfBytes", Sequence(absl::StrCat(kUncut, ",", kByteLevel)), kBpe},
        {"Prepend", Normalizer(R"({"type": "Prepend", "prepend": "▁"})"), kFallback,
         Symbols::kCharacters},
        {"SpacesToMarks", Replace(" ", "▁"), kFallback, Symbols::kCharacters},
        {"SpacesToSomethingElse", Replace(" ", "_"), kFallback},
        {"LettersToLetters", Replace("a", "b"), kFallback},
        {"TwoSpacesToOneMark", Replace("  ", "▁"), kFallback},
        {"ReplaceByRegex",
         Normalizer(R"({"type": "Replace", "pattern": {"Regex": "\\s"}, "content": "▁"})"),
         kFallback},
        {"ReplaceOfBytes", Replace(" ", "▁") + Pre(kByteLevel), kBpe},
        {"Nfkc", Normalizer(R"({"type": "NFKC"})"), kFallback},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bytes, RulesTest,
    testing::ValuesIn(std::vector<RulesCase>{
        {"PrefixSpace",
         Pre(R"({"type": "ByteLevel", "use_regex": false, "add_prefix_space": true})"), kBpe},
        {"SequenceOfOne", Sequence(kByteLevel), kBpe, Symbols::kBytes},
        {"SequenceOfNothing", Sequence(""), kBpe},
        {"SequenceInASequence",
         Sequence(absl::StrCat(kByteLevel, R"(,{"type": "Sequence", "pretokenizers": []})")), kBpe},
        {"APartThatIsNoObject", Sequence(absl::StrCat(kByteLevel, ", 5")), kBpe},
        {"Inverted",
         Sequence(absl::StrCat(R"({"type": "Split", "pattern": {"Regex": "x"}, "behavior":)",
                               R"("Isolated", "invert": true},)", kByteLevel)),
         kBpe},
        {"Removed",
         Sequence(absl::StrCat(R"({"type": "Split", "pattern": {"Regex": "x"}, "behavior":)",
                               R"("Removed"},)", kByteLevel)),
         kBpe},
        {"EmptyPattern",
         Sequence(absl::StrCat(R"({"type": "Split", "pattern": {"Regex": ""}, "behavior":)",
                               R"("Isolated"},)", kByteLevel)),
         kBpe},
    }),
    [](const auto& test) { return test.param.name; });

TEST(HuggingFaceRulesTest, WithoutMergesNothingIsKnown) {
  const TokenizerDocument document =
      ReadTokenizerDocument(absl::StrCat("{", Pre(kByteLevel), R"("model": {"type": "BPE"}})"))
          .value();
  EXPECT_EQ(ReadHuggingFaceRules(document.tree, document, RawVocabulary()).symbols,
            Symbols::kUnknown);
}

}  // namespace
}  // namespace maskd
