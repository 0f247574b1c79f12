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
constexpr char kAtSpaces[] =
    R"({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious"})";
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

// A file with these added tokens, and with a, b, "a b" and a▁b as pieces.
EncodingRules RulesOfAdded(absl::string_view fields, absl::string_view model,
                           absl::string_view added) {
  const TokenizerDocument document =
      ReadTokenizerDocument(absl::StrCat("{", fields, R"("added_tokens": [)", added,
                                         R"(], "model": {"merges": [],
              "vocab": {"a": 0, "b": 1, "a b": 2, "a▁b": 3}, )",
                                         model, "}}"))
          .value();
  RawVocabulary raw;
  for (const ModelPiece& piece : document.pieces) {
    raw.id_by_piece.emplace(piece.text, static_cast<TokenId>(piece.id));
    raw.tokens.push_back({piece.text, false});
  }
  for (const nlohmann::json& token : document.tree.at("added_tokens")) {
    const auto [at, is_new] = raw.id_by_piece.emplace(token.at("content").get<std::string>(),
                                                      static_cast<TokenId>(raw.tokens.size()));
    if (is_new) raw.tokens.push_back({at->first, false});
    raw.added_ids.push_back(at->second);
  }
  return ReadHuggingFaceRules(document.tree, document, raw);
}

TEST(HuggingFaceRulesTest, PiecesThatNoTextIsSpelledAsAreUnused) {
  EXPECT_THAT(RulesOfAdded(Pre(kByteLevel), kBpe, "").unused, ElementsAre(2, 3));
  EXPECT_THAT(RulesOfAdded(Replace(" ", "▁"), kFallback, "").unused, ElementsAre(2));
  EXPECT_THAT(RulesOfAdded(Pre(kUncut), kFallback, "").unused, ElementsAre(2));
  EXPECT_THAT(RulesOfAdded("", kFallback, "").unused, ElementsAre(3));
}

// An added token is looked for before a normalizer marks spaces, unless it is normalized itself.
TEST(HuggingFaceRulesTest, AMarkedAddedTokenIsAPieceWhereSpacesAreNotMarkedYet) {
  constexpr char kPiece[] = R"({"content": "a▁b"}, {"content": "<x>"})";
  constexpr char kNew[] = R"({"content": "▁▁"})";
  constexpr char kNormalized[] = R"({"content": "▁▁", "normalized": true})";
  const EncodingRules piece = RulesOfAdded(Replace(" ", "▁"), kFallback, kPiece);
  EXPECT_THAT(piece.atoms, ElementsAre(4));
  EXPECT_THAT(piece.unused, ElementsAre(2));
  const EncodingRules added = RulesOfAdded(Replace(" ", "▁"), kFallback, kNew);
  EXPECT_THAT(added.atoms, IsEmpty());
  EXPECT_THAT(added.unused, ElementsAre(2, 4));
  EXPECT_THAT(RulesOfAdded(Replace(" ", "▁"), kFallback, kNormalized).atoms, ElementsAre(4));
  EXPECT_THAT(RulesOfAdded(Pre(kUncut), kFallback, kNormalized).atoms, IsEmpty());
  EXPECT_THAT(RulesOfAdded(Pre(kByteLevel), kBpe, kNew).atoms, ElementsAre(4));
}

TEST(HuggingFaceRulesTest, WhatIsBesideAnAddedTokenMayDecide) {
  const std::string prepend = Normalizer(R"({"type": "Prepend", "prepend": "▁"})");
  for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
    const std::string token = absl::StrCat(R"({"content": "<x>", ")", flag, R"(": true})");
    EXPECT_THAT(RulesOfAdded(Pre(kByteLevel), kBpe, token).unsure_atoms, ElementsAre(4)) << flag;
  }
  // What is behind it begins with a space of its own.
  constexpr char kPlain[] = R"({"content": "<x>"})";
  EXPECT_THAT(RulesOfAdded("", kFallback, kPlain).unsure_atoms, IsEmpty());
  EXPECT_THAT(RulesOfAdded(prepend, kFallback, kPlain).unsure_atoms, ElementsAre(4));
  for (const auto& [scheme, is_unsure] :
       {std::pair{R"("prepend_scheme": "first")", false},
        std::pair{R"("prepend_scheme": "never")", false},
        std::pair{R"("prepend_scheme": "always")", true},
        std::pair{R"("add_prefix_space": true)", true},
        std::pair{R"("add_prefix_space": false)", false}, std::pair{R"("x": 1)", true}}) {
    const std::string metaspace =
        absl::StrCat(R"({"type": "Metaspace", "split": false, )", scheme, "}");
    EXPECT_EQ(RulesOfAdded(Pre(metaspace), kFallback, kPlain).unsure_atoms.size(), is_unsure)
        << scheme;
  }
  constexpr char kSpecial[] = R"({"content": "<x>", "special": true, "lstrip": true})";
  EXPECT_THAT(RulesOfAdded(Pre(kByteLevel), kBpe, kSpecial).unsure_atoms, IsEmpty());
}

// Those that are normalized are looked for last, even where they begin first.
TEST(HuggingFaceRulesTest, WhichOfTwoAddedTokensIsCutOutMayDecide) {
  const auto unsure = [](const char* early, const char* late) {
    return RulesOfAdded(Pre(kByteLevel), kBpe,
                        absl::StrCat(R"({"content": ")", early, R"("}, {"content": ")", late,
                                     R"(", "normalized": true})"))
        .unsure_atoms;
  };
  EXPECT_THAT(unsure("<x>", "<y>"), IsEmpty());
  EXPECT_THAT(unsure("xx", "ax"), ElementsAre(5));
  EXPECT_THAT(unsure("xx", "xa"), ElementsAre(5));
  EXPECT_THAT(unsure("x", "axa"), ElementsAre(5));
  EXPECT_THAT(unsure("axa", "x"), ElementsAre(5));
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
        {"CutAtSpacesThatAreMarked", Replace(" ", "▁") + Pre(kAtSpaces), kFallback,
         Symbols::kCharacters},
        {"CutAtSpacesThatAreNot", Pre(kAtSpaces), kFallback},
        {"CutAtSpacesBeforeTheyAreMarked", Sequence(absl::StrCat(kAtSpaces, ",", kUncut)),
         kFallback},
        {"CutAtOthersThanSpaces",
         Replace(" ", "▁") +
             Pre(R"({"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated"})"),
         kFallback},
        {"CutAtAllButSpaces",
         Replace(" ", "▁") + Pre(R"({"type": "Split", "pattern": {"String": " "}, "invert": true,
             "behavior": "Removed"})"),
         kFallback},
        {"CutAtMatchesOfASpace",
         Replace(" ", "▁") +
             Pre(R"({"type": "Split", "pattern": {"Regex": " "}, "behavior": "Isolated"})"),
         kFallback},
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
        {"BytesTwice", Sequence(absl::StrCat(kByteLevel, ",", kByteLevel)), kBpe},
        {"CutBehindBytes", Sequence(absl::StrCat(kByteLevel, ",", kDigits)), kBpe},
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
