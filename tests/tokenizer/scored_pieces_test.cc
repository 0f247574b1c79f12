// How models with scores cut texts, and which of them are not understood.
#include "grammar_core/tokenizer/formats/scored_pieces.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using Kind = ScoredPieces::Kind;
using Model = ScoredPieces::Model;
using Symbols = EncodingRules::Symbols;
using Method = EncodingRules::Method;
using testing::ElementsAre;
using testing::IsEmpty;

// A model, and the vocabulary that goes with it.
struct Made {
  ScoredPieces model;
  RawVocabulary raw;

  void Add(const std::string& piece, const std::string& bytes, Kind kind, float score = 0) {
    raw.id_by_piece.emplace(piece, static_cast<TokenId>(raw.tokens.size()));
    raw.tokens.push_back({bytes, false});
    model.pieces.push_back({score, kind});
  }
  void AddBytes(int first, int last) {
    for (int byte = first; byte <= last; ++byte)
      Add("<" + std::to_string(byte) + ">", std::string(1, static_cast<char>(byte)), Kind::kByte);
  }
  [[nodiscard]] EncodingRules Rules() const { return RulesOf(model, raw); }
};

Made Small() {
  Made made;
  made.Add("a", "a", Kind::kNormal, -1);
  made.Add("▁b", " b", Kind::kNormal, -2.5);
  return made;
}

TEST(ScoredPiecesTest, AUnigramTakesTheBestSum) {
  Made made = Small();
  made.Add("<u>", "<u>", Kind::kUserDefined);
  made.Add("<s>", "<s>", Kind::kOther, 3);
  const EncodingRules rules = made.Rules();
  EXPECT_EQ(rules.symbols, Symbols::kCharacters);
  EXPECT_EQ(rules.method, Method::kBestSum);
  EXPECT_THAT(rules.scores, ElementsAre(-1, -2.5, 0, 3));
  EXPECT_THAT(rules.user_defined, ElementsAre(2));
  EXPECT_THAT(rules.atoms, IsEmpty());
  EXPECT_THAT(rules.unused, ElementsAre(3));
  EXPECT_THAT(rules.byte_tokens, IsEmpty());
  EXPECT_TRUE(rules.joins_spaces);
  EXPECT_TRUE(rules.marks_spaces);
  EXPECT_EQ(rules.character_map, nullptr);
}

TEST(ScoredPiecesTest, UserDefinedPiecesOfMergesAreAtoms) {
  Made made = Small();
  made.model.model = Model::kMerges;
  made.model.joins_spaces = false;
  made.Add("<u>", "<u>", Kind::kUserDefined);
  const EncodingRules rules = made.Rules();
  EXPECT_EQ(rules.method, Method::kMerges);
  EXPECT_THAT(rules.atoms, ElementsAre(2));
  EXPECT_THAT(rules.user_defined, IsEmpty());
  EXPECT_FALSE(rules.joins_spaces);
}

// What a text never has, since its spaces are marked.
TEST(ScoredPiecesTest, PiecesWithASpaceAreUnused) {
  Made made = Small();
  made.Add("c d", "c d", Kind::kNormal);
  EXPECT_THAT(made.Rules().unused, ElementsAre(2));
}

TEST(ScoredPiecesTest, APieceWithoutBytesIsUnused) {
  Made made = Small();
  made.Add("gap", "", Kind::kByte);
  made.Add("gap2", "", Kind::kUserDefined);
  const EncodingRules rules = made.Rules();
  EXPECT_THAT(rules.unused, ElementsAre(2, 3));
  EXPECT_THAT(rules.user_defined, IsEmpty());
}

TEST(ScoredPiecesTest, AllBytesStandInForACharacter) {
  Made made = Small();
  made.model.has_byte_fallback = true;
  made.AddBytes(0, 255);
  const EncodingRules rules = made.Rules();
  ASSERT_EQ(rules.byte_tokens.size(), 256U);
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(rules.byte_tokens[static_cast<std::size_t>(byte)], byte + 2);
  EXPECT_EQ(rules.unused.size(), 256U);
  made.model.has_byte_fallback = false;
  EXPECT_THAT(made.Rules().byte_tokens, IsEmpty());
}

TEST(ScoredPiecesTest, BytesOfWhichOneIsMissingDoNot) {
  for (const int missing : {0, 0x7F, 0xFF}) {
    Made made = Small();
    made.model.has_byte_fallback = true;
    made.AddBytes(0, missing - 1);
    made.AddBytes(missing + 1, 255);
    const EncodingRules rules = made.Rules();
    EXPECT_EQ(rules.symbols, Symbols::kCharacters);
    EXPECT_THAT(rules.byte_tokens, IsEmpty());
  }
}

struct UnderstoodCase {
  std::string name;
  std::function<void(Made*)> change;
  bool is_understood;
};

class UnderstoodTest : public testing::TestWithParam<UnderstoodCase> {};

TEST_P(UnderstoodTest, OrUnknown) {
  Made made = Small();
  GetParam().change(&made);
  EXPECT_EQ(made.Rules().symbols != Symbols::kUnknown, GetParam().is_understood);
}

Model ModelOf(std::uint64_t number) { return static_cast<Model>(number); }
void AddUnused(Made* made, const std::string& piece, const std::string& bytes = "x",
               float score = -3) {
  if (made->model.model != Model::kMerges) {
    made->model.model = Model::kMerges;
    made->Add("b", "b", Kind::kNormal, -1);
    made->Add("ab", "ab", Kind::kNormal, -2);
  }
  made->Add(piece, bytes, Kind::kUnused, score);
}
void PutScore(Made* made, float score) { made->model.pieces[1].score = score; }

INSTANTIATE_TEST_SUITE_P(
    Models, UnderstoodTest,
    testing::ValuesIn(std::vector<UnderstoodCase>{
        {"AsItIs", [](Made*) {}, true},
        {"NoPieces", [](Made* m) { *m = Made(); }, true},
        {"Zero", [](Made* m) { m->model.model = ModelOf(0); }, false},
        {"Words", [](Made* m) { m->model.model = Model::kWords; }, false},
        {"Future", [](Made* m) { m->model.model = ModelOf(5); }, false},
        {"Wide", [](Made* m) { m->model.model = ModelOf((std::uint64_t{1} << 32) + 1); }, false},
        {"LongCharacters", [](Made* m) { m->model.model = Model::kCharacters; }, false},
        {"Characters",
         [](Made* m) {
           *m = Made();
           m->Add("é", "é", Kind::kNormal);
           m->Add("▁", " ", Kind::kNormal);
           m->Add("<s>", "<s>", Kind::kOther);
           m->Add("<u>", "<u>", Kind::kUserDefined);
           m->model.model = Model::kCharacters;
         },
         true},
        {"UnmarkedSpaces", [](Made* m) { m->model.marks_spaces = false; }, false},
        {"MarksAtEnds", [](Made* m) { m->model.marks_ends = true; }, false},
        {"UnusedOfUnigram", [](Made* m) { m->Add("aa", "aa", Kind::kUnused); }, true},
        {"UnusedOfCharacters",
         [](Made* m) {
           *m = Made();
           m->model.model = Model::kCharacters;
           m->Add("é", "é", Kind::kUnused);
         },
         false},
        {"NotANumber", [](Made* m) { PutScore(m, std::numeric_limits<float>::quiet_NaN()); },
         false},
        {"Infinite", [](Made* m) { PutScore(m, std::numeric_limits<float>::infinity()); }, false},
        {"MinusInfinite", [](Made* m) { PutScore(m, -std::numeric_limits<float>::infinity()); },
         false},
        {"TheLowestNumber", [](Made* m) { PutScore(m, std::numeric_limits<float>::lowest()); },
         true},
        {"BrokenMap", [](Made* m) { m->model.character_map = "map"; }, false},
    }),
    [](const auto& test) { return test.param.name; });

// Merges of a, b and ab, and an unused piece.
INSTANTIATE_TEST_SUITE_P(
    UnusedOfMerges, UnderstoodTest,
    testing::ValuesIn(std::vector<UnderstoodCase>{
        {"OfTwoPieces", [](Made* m) { AddUnused(m, "aa"); }, false},
        {"WithoutBytes", [](Made* m) { AddUnused(m, "aa", ""); }, false},
        {"OfTheLowestScore", [](Made* m) { AddUnused(m, "aba", "aba", -9); }, false},
        {"OneCharacter", [](Made* m) { AddUnused(m, "x"); }, false},
        {"OfThreePieces", [](Made* m) { AddUnused(m, "[PAD1]", ""); }, true},
        {"OfPiecesThatAreMergedBefore", [](Made* m) { AddUnused(m, "aab", "aab", -9); }, false},
        {"OfPiecesThatAreMergedOtherwise",
         [](Made* m) {
           m->Add("bb", "bb", Kind::kNormal, -0.5);
           m->Add("abb", "abb", Kind::kOther, -1);
           AddUnused(m, "abba", "abba", -9);
         },
         true},
        {"OfAnotherUnused",
         [](Made* m) {
           AddUnused(m, "xy");
           AddUnused(m, "xyx");
         },
         false},
    }),
    [](const auto& test) { return test.param.name; });

TEST(KindOfTest, IsOfTheNumbersOfBothFormats) {
  EXPECT_EQ(ScoredPieces::KindOf(PieceType::kNormal), Kind::kNormal);
  EXPECT_EQ(ScoredPieces::KindOf(PieceType::kUserDefined), Kind::kUserDefined);
  EXPECT_EQ(ScoredPieces::KindOf(PieceType::kByte), Kind::kByte);
  EXPECT_EQ(ScoredPieces::KindOf(PieceType::kUnknown), Kind::kOther);
  EXPECT_EQ(ScoredPieces::KindOf(PieceType::kControl), Kind::kOther);
  for (const std::uint64_t type : std::vector<std::uint64_t>{
           0, PieceType::kUnused, 7, 256 + 1, (std::uint64_t{1} << 32) + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(ScoredPieces::KindOf(type), Kind::kUnused) << type;
  }
}

}  // namespace
}  // namespace maskd
