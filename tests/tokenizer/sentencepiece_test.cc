// SentencePiece models: pieces to bytes, end tokens, and every kind of wrong file.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/tokenizer/model_bytes.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

struct PieceCase {
  std::string name;
  std::string piece;
  int type;
  std::string bytes;
  bool special = false;
};

class ModelPieceTest : public testing::TestWithParam<PieceCase> {};

TEST_P(ModelPieceTest, StandsForTheseBytes) {
  const auto vocabulary = LoadContent("m.model", Head() + Piece(GetParam().piece, GetParam().type));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 4);
  EXPECT_EQ((*vocabulary)->TokenBytes(3), GetParam().bytes);
  EXPECT_EQ((*vocabulary)->IsSpecial(3), GetParam().special);
}

INSTANTIATE_TEST_SUITE_P(Types, ModelPieceTest,
                         testing::ValuesIn(std::vector<PieceCase>{
                             {"Text", "the", kNormal, "the"},
                             {"LeadingSpace", "▁the", kNormal, " the"},
                             {"TrailingSpace", "the▁", kNormal, "the "},
                             {"Spaces", "▁▁▁", kNormal, "   "},
                             {"RealSpace", "a b", kNormal, "a b"},
                             {"SpelledLikeAByte", "<0x41>", kNormal, "<0x41>"},
                             {"Byte", "<0x0A>", kByte, "\n"},
                             {"NulByte", "<0x00>", kByte, std::string(1, '\0')},
                             {"HighByte", "<0xFF>", kByte, "\xFF"},
                             {"UserDefined", "<sep>", kUserDefined, "<sep>"},
                             {"UserDefinedSpace", "▁▁", kUserDefined, "  "},
                             {"Unused", "▁x", kUnused, " x"},
                             {"Control", "▁<c>", kControl, "▁<c>", true},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(SentencePieceTest, IdsAreTheOrderOfThePieces) {
  const auto vocabulary = LoadContent("m", Head() + Piece("▁a") + Piece("b"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(4), "b");
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2));
}

TEST(SentencePieceTest, FieldsThatAreNotKnownAreSkipped) {
  const std::string fixed64(
      "\xA1\x06"
      "12345678",
      10);  // field 100
  const std::string other = VarintField(200, ~std::uint64_t{0}) + BytesField(9, "x") + fixed64;
  const std::string piece = BytesField(1, other + BytesField(1, "a") + other);
  const auto vocabulary = LoadContent("m", Head() + other + piece + other);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(3), "a");
}

TEST(SentencePieceTest, APieceWithoutATypeIsNormal) {
  const auto vocabulary = LoadContent("m", Head() + BytesField(1, BytesField(1, "▁a")));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(3), " a");
}

// TrainerSpec.eos_piece is field 47.
std::string EndsWith(absl::string_view piece) { return BytesField(2, BytesField(47, piece)); }

TEST(SentencePieceStopTest, IsTheEndPieceOfTheTrainer) {
  const auto vocabulary =
      LoadContent("m", Head() + Piece("<end>", kControl) + EndsWith("<end>") + Piece("x"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  // </s> is an end by its spelling.
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2, 3));
}

TEST(SentencePieceStopTest, MayBeAUserDefinedPieceWithAWellKnownSpelling) {
  const auto vocabulary = LoadContent("m", Head() + Piece("<end_of_turn>", kUserDefined));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2, 3));
  EXPECT_TRUE((*vocabulary)->IsSpecial(3));
}

TEST(SentencePieceStopTest, IsNotAnOrdinaryPiece) {
  const auto vocabulary = LoadContent("m", Piece("<unk>", kUnknown) + Piece("</s>"));
  EXPECT_EQ(MessageAfterPath(vocabulary.status()),
            "stop_tokens: the file names no token that ends a text: name one");
}

TEST(SentencePieceStopTest, ComesFromTheFilesBesideAndWhatTheCallerAdds) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.model", Head() + Piece("a")));
  folder.Write("generation_config.json", R"({"eos_token_id": [1, 4]})");
  EXPECT_THAT(MessageAfterPath(LoadVocabulary(source).status()),
              testing::EndsWith("/eos_token_id/1: the vocabulary has no token 4"));
  source.extra_special = {{"<|im_end|>", 4}};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(1, 4));
}

struct FileCase {
  std::string name;
  std::string content;
  std::string message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class WrongModelTest : public testing::TestWithParam<FileCase> {};

TEST_P(WrongModelTest, IsRefusedAtItsPlace) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("m", GetParam().content));
  source.format = "sentencepiece";
  const absl::Status status = LoadVocabulary(source).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(MessageAfterPath(status), GetParam().message);
}

std::string Bytes(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

INSTANTIATE_TEST_SUITE_P(
    Wire, WrongModelTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"EndsInATag", Bytes({0x80}), "byte 0: the message ends within a number"},
        {"EndsInALength", Bytes({0x0A, 0x80}), "byte 1: the message ends within a number"},
        {"LengthPastTheEnd", Bytes({0x0A, 0x03, 0x0A, 0x01}),
         "byte 2: a value of 3 bytes, and the message has 2 more"},
        {"InnerLengthPastTheEnd", Bytes({0x0A, 0x03, 0x0A, 0x02, 'a', 0x18, 0x01}),
         "byte 4: a value of 2 bytes, and the message has 1 more"},
        {"HugeLength", Bytes({0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}),
         "byte 11: a value of 18446744073709551615 bytes, and the message has 0 more"},
        {"TooManyBits", Bytes({0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}),
         "byte 1: a number of more than 64 bits"},
        {"EndlessNumber",
         Bytes({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}),
         "byte 1: a number of more than 64 bits"},
        {"FieldZero", Bytes({0x00, 0x00}), "byte 0: 0 is not a field number"},
        {"FieldTooLarge", Bytes({0x80, 0x80, 0x80, 0x80, 0x10, 0x00}),
         "byte 0: 536870912 is not a field number"},
        {"Group", Bytes({0x0B, 0x0C}), "byte 1: field 1 has the wire type 3, which is not known"},
        {"ShortFixed32", Bytes({0x0D, 0x00}),
         "byte 1: a value of 4 bytes, and the message has 1 more"},
        {"ShortFixed64", Bytes({0x09, 0x00}),
         "byte 1: a value of 8 bytes, and the message has 1 more"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Pieces, WrongModelTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"NoText", BytesField(1, kScore),
         "byte 2: piece 0 is not a text of at least one character"},
        {"EmptyText", Piece("a") + Piece(""),
         "byte 14: piece 1 is not a text of at least one character"},
        {"NotUtf8", Piece("\xFF"), "byte 2: piece 0 is not a text of at least one character"},
        {"SpelledTwice", Piece("a") + Piece("b") + Piece("a"),
         "byte 26: piece 2 is spelled like piece 0"},
        {"NotAByte", Piece("<0x4>", kByte),
         "byte 2: piece 0 is of type BYTE and \"<0x4>\" is not <0xNN>"},
        {"UnknownType", Piece("a", 7), "byte 2: piece 0 has the unknown type 7"},
        {"TypeZero", Piece("a", 0), "byte 2: piece 0 has the unknown type 0"},
        {"PieceIsANumber", VarintField(1, 5), "byte 1: ModelProto.pieces has another wire type"},
        {"TextIsANumber", BytesField(1, VarintField(1, 5)),
         "byte 3: SentencePiece.piece has another wire type"},
        {"TypeIsAText", BytesField(1, BytesField(1, "a") + BytesField(3, "x")),
         "byte 7: SentencePiece.type has another wire type"},
        {"EndIsANumber", Piece("a") + BytesField(2, VarintField(47, 1)),
         "byte 16: TrainerSpec.eos_piece has another wire type"},
        {"NoPiece", BytesField(2, ""),
         "stop_tokens: the file names no token that ends a text: name one"},
        {"LongPiece", Head() + Piece(std::string(4097, 'a')),
         "token 3: 4097 bytes are more than 4096"},
        {"Denormalizer", Head() + BytesField(5, BytesField(2, "x")),
         "byte 49: a model with a denormalizer is not supported: it rewrites the text after the "
         "pieces are joined",
         absl::StatusCode::kUnimplemented},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SentencePieceTest, AnEmptyDenormalizerChangesNothing) {
  EXPECT_TRUE(LoadContent("m", Head() + BytesField(5, BytesField(1, "identity"))).ok());
}

// Any prefix and any changed byte of a file is read or refused; sanitizers watch.
TEST(SentencePieceTest, SpoiledFilesAreReadOrRefused) {
  const std::string whole = Head() + Piece("<0x41>", kByte) + Piece("▁a", kUserDefined) +
                            EndsWith("</s>") + BytesField(3, BytesField(2, "map"));
  ASSERT_TRUE(ReadSentencePiece(whole).ok());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\0', '\1', '\x0A', '\x0B', '\x7F', '\x80', '\xFF'}) {
      std::string spoiled = whole;
      spoiled[at] = other;
      const absl::Status status = ReadSentencePiece(spoiled).status();
      EXPECT_TRUE(status.ok() || !status.message().empty());
    }
    const absl::Status status = ReadSentencePiece(whole.substr(0, at)).status();
    EXPECT_TRUE(status.ok() || absl::StartsWith(status.message(), "byte ")) << status;
  }
}

}  // namespace
}  // namespace maskd
