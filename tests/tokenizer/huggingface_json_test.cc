// tokenizer.json: pieces to bytes, added tokens, end tokens, and every kind of wrong file.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

// A file with the added end token </s> at id 99.
std::string File(absl::string_view model, absl::string_view other = "",
                 absl::string_view added = "") {
  return absl::StrCat(R"({"added_tokens": [{"id": 99, "content": "</s>", "special": true})", added,
                      "], ", other, R"("model": )", model, "}");
}

std::string Bpe(absl::string_view vocab, absl::string_view other = "") {
  return absl::StrCat(R"({"type": "BPE", "vocab": {)", vocab, R"(}, "merges": [])", other, "}");
}

constexpr absl::string_view kByteLevel = R"("decoder": {"type": "ByteLevel"}, )";
constexpr absl::string_view kLlama2 = R"("decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
    {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}, )";

struct PieceCase {
  std::string name;
  std::string other;  // of the file
  std::string model;  // its other fields
  std::string piece;  // as JSON spells it
  std::string bytes;
};

class PieceTest : public testing::TestWithParam<PieceCase> {};

TEST_P(PieceTest, StandsForTheseBytes) {
  const PieceCase& param = GetParam();
  const auto vocabulary =
      LoadContent("tokenizer.json",
                  File(Bpe(absl::StrCat("\"", param.piece, "\": 7"), param.model), param.other));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(7), param.bytes);
  EXPECT_FALSE((*vocabulary)->IsSpecial(7));
}

const std::string kByteLevelText(kByteLevel);
const std::string kLlama2Text(kLlama2);

INSTANTIATE_TEST_SUITE_P(
    ByteLevel, PieceTest,
    testing::ValuesIn(std::vector<PieceCase>{
        {"Ascii", kByteLevelText, "", "abc", "abc"},
        {"Space", kByteLevelText, "", "Ġthe", " the"},
        {"LineEnd", kByteLevelText, "", "ĊĊ", "\n\n"},
        {"Nul", kByteLevelText, "", "Ā", std::string(1, '\0')},
        {"Latin1", kByteLevelText, "", "é", "\xE9"},
        {"SoftHyphen", kByteLevelText, "", "Ń", "\xAD"},
        {"PartOfACharacter", kByteLevelText, "", "ðŁĺ", "\xF0\x9F\x98"},
        {"NotOfTheAlphabet", kByteLevelText, "", "<｜a｜>", "<｜a｜>"},
        {"MetaspaceIsItself", kByteLevelText, "", "▁", "▁"},
        {"RealSpaceIsItself", kByteLevelText, "", "a Ġ", "a Ġ"},
        {"InASequence", R"("decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}, )",
         "", "Ġ", " "},
        {"InThePreTokenizer",
         R"("decoder": null, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split"}, {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}]}, )",
         "", "Ġ", " "},
        {"InTheNormalizer", R"("normalizer": {"type": "ByteLevel"}, )", "", "Ġ", " "},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Metaspace, PieceTest,
    testing::ValuesIn(std::vector<PieceCase>{
        {"LeadingIsASpace", kLlama2Text, "", "▁the", " the"},
        {"Many", kLlama2Text, "", "▁▁▁", "   "},
        {"ByteToken", kLlama2Text, "", "<0x0A>", "\n"},
        {"HighByteToken", kLlama2Text, "", "<0xfF>", "\xFF"},
        {"AlmostAByteToken", kLlama2Text, "", "<0xG0>", "<0xG0>"},
        {"LongByteToken", kLlama2Text, "", "<0x0A>>", "<0x0A>>"},
        {"Text", kLlama2Text, "", "é", "é"},
        {"ByTheDecoder", R"("decoder": {"type": "Metaspace", "replacement": "▁"}, )", "", "▁a▁",
         " a "},
        {"AnotherMark", R"("decoder": {"type": "Metaspace", "replacement": "_"}, )", "", "_a▁",
         " a▁"},
        {"ByteTokenByTheModel", R"("decoder": {"type": "Metaspace"}, )",
         R"(, "byte_fallback": true)", "<0x41>", "A"},
        {"NoByteToken", R"("decoder": {"type": "Metaspace"}, )", R"(, "byte_fallback": false)",
         "<0x41>", "<0x41>"},
        {"WithoutADecoder", R"("pre_tokenizer": {"type": "Metaspace"}, )", "", "▁a", " a"},
        {"ByTheNormalizer", R"("normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, )",
         "", "▁a", " a"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(HuggingFaceTest, SpecialAddedTokensStandForTheirContent) {
  const auto vocabulary =
      LoadContent("tokenizer.json", File(Bpe(R"("a": 0, "<s>": 1)"), kByteLevel,
                                         R"(, {"id": 1, "content": "<s>", "special": true},
             {"id": 5, "content": "Ġ<｜x｜>", "special": false})"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 100);
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(1, 99));
  EXPECT_EQ((*vocabulary)->TokenBytes(5), "Ġ<｜x｜>");
  EXPECT_FALSE((*vocabulary)->IsSpecial(5));
  EXPECT_EQ((*vocabulary)->TokenBytes(50), "");
}

// As the library's decode writes them out.
TEST(HuggingFaceTest, OrdinaryAddedTokensPassTheDecoder) {
  const std::string added = R"(, {"id": 5, "content": "▁▁"}, {"id": 6, "content": "é"},
                                 {"id": 7, "content": "<0x41>"}, {"id": 8, "content": "  "})";
  const auto metaspace = LoadContent("tokenizer.json", File(Bpe(""), kLlama2, added));
  ASSERT_TRUE(metaspace.ok()) << metaspace.status();
  EXPECT_EQ((*metaspace)->TokenBytes(5), "  ");
  EXPECT_EQ((*metaspace)->TokenBytes(6), "é");
  EXPECT_EQ((*metaspace)->TokenBytes(7), "A");
  const auto byte_level = LoadContent("tokenizer.json", File(Bpe(""), kByteLevel, added));
  ASSERT_TRUE(byte_level.ok()) << byte_level.status();
  EXPECT_EQ((*byte_level)->TokenBytes(5), "▁▁");
  EXPECT_EQ((*byte_level)->TokenBytes(6), "\xE9");
  EXPECT_EQ((*byte_level)->TokenBytes(8), "  ");
}

TEST(HuggingFaceTest, TheUnknownTokenIsSpecial) {
  const auto bpe = LoadContent(
      "tokenizer.json", File(Bpe(R"("<unk>": 0, "a": 1)", R"(, "unk_token": "<unk>")"), kLlama2));
  ASSERT_TRUE(bpe.ok()) << bpe.status();
  EXPECT_THAT((*bpe)->special_ids(), testing::ElementsAre(0, 99));
  const auto unigram = LoadContent(
      "tokenizer.json",
      File(R"({"type": "Unigram", "unk_id": 1, "vocab": [["▁a", -1.5], ["<unk>", 0], ["b", -2]]})",
           R"("decoder": {"type": "Metaspace"}, )"));
  ASSERT_TRUE(unigram.ok()) << unigram.status();
  EXPECT_THAT((*unigram)->special_ids(), testing::ElementsAre(1, 99));
  EXPECT_EQ((*unigram)->TokenBytes(0), " a");
  EXPECT_EQ((*unigram)->TokenBytes(2), "b");
}

TEST(HuggingFaceTest, AFileWithoutAModelTypeIsBpeWhenItHasMerges) {
  EXPECT_TRUE(
      LoadContent("tokenizer.json", File(R"({"vocab": {"a": 0}, "merges": ["a b"]})", kByteLevel))
          .ok());
}

TEST(HuggingFaceTest, MergesOfEitherFormAreSkipped) {
  const auto vocabulary = LoadContent(
      "tokenizer.json",
      File(R"({"merges": ["a b", ["c", "d"], {"x": [1, null, true, -2.5]}], "vocab": {"a": 0}})",
           kByteLevel));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(0), "a");
}

struct FileCase {
  std::string name;
  std::string content;
  absl::StatusCode code;
  std::string message;
};

class WrongFileTest : public testing::TestWithParam<FileCase> {};

TEST_P(WrongFileTest, IsRefusedAtItsPlace) {
  const absl::Status status = LoadContent("tokenizer.json", GetParam().content).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(MessageAfterPath(status), GetParam().message);
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Json, WrongFileTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"Truncated", "{\"model\":\n {\"vocab\": {\"a\"", kInvalid,
         "2:16: not JSON: unexpected end of input; expected ':'"},
        {"TrailingText", File(Bpe("\"a\": 0"), kByteLevel) + "\n]", kInvalid,
         "2:1: not JSON: unexpected ']'; expected end of input"},
        {"NotUtf8", "{\"model\": \"\xFF\"}", kInvalid,
         "1:12: not JSON: invalid string: ill-formed UTF-8 byte"},
        {"NumberOverflow", R"({"model": 1e999})", kInvalid, "1:15: a number is out of range"},
        {"KeyTwice", R"({"a": 1, "b": {"c": 1, "c": 2}})", kInvalid, "/b/c: appears twice"},
        {"NoModel", R"({"a": 1})", kInvalid, "/model: missing: this is not a tokenizer.json"},
        {"ModelIsAList", R"({"model": []})", kInvalid,
         "/model: missing: this is not a tokenizer.json"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Vocab, WrongFileTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"IdIsText", File(Bpe(R"("a": "0")"), kByteLevel), kInvalid,
         "/model/vocab/a: the id is not a whole number"},
        {"IdIsNegative", File(Bpe(R"("a": -1)"), kByteLevel), kInvalid,
         "/model/vocab/a: the id is not a whole number"},
        {"IdIsAFraction", File(Bpe(R"("a": 1.0)"), kByteLevel), kInvalid,
         "/model/vocab/a: the id is not a whole number"},
        {"IdIsNull", File(Bpe(R"("a/b": null)"), kByteLevel), kInvalid,
         "/model/vocab/a~1b: the id is not a whole number"},
        {"IdIsAnObject", File(Bpe(R"("a": {})"), kByteLevel), kInvalid,
         "/model/vocab/a: the id is not a whole number"},
        {"IdIsHuge", File(Bpe(R"("a": 2147483648)"), kByteLevel), kInvalid,
         "/model/vocab/a: id 2147483648 is not in 0 to 2097151"},
        {"IdIsHuger", File(Bpe(R"("a": 18446744073709551615)"), kByteLevel), kInvalid,
         "/model/vocab/a: the id is not a whole number"},
        {"IdTwice", File(Bpe(R"("a": 0, "b": 0)"), kByteLevel), kInvalid,
         "/model/vocab/b: id 0 is another token's"},
        {"PieceTwice", File(Bpe(R"("a": 0, "a": 1)"), kByteLevel), kInvalid,
         "/model/vocab/a: appears twice"},
        {"VocabTwice", File(R"({"type": "BPE", "vocab": {"a": 0}, "vocab": {"b": 1}})", kByteLevel),
         kInvalid, "/model/vocab: appears twice"},
        {"LongPiece", File(Bpe("\"" + std::string(4097, 'a') + "\": 0"), kByteLevel), kInvalid,
         "token 0: 4097 bytes are more than 4096"},
        {"UnigramWithoutPiece", File(R"({"type": "Unigram", "vocab": [["a", 0], [1.5]]})", kLlama2),
         kInvalid, "/model/vocab/1: not a [piece, score] pair"},
        {"UnigramTwoPieces", File(R"({"type": "Unigram", "vocab": [["a", "b"]]})", kLlama2),
         kInvalid, "/model/vocab/0: not a [piece, score] pair"},
        {"UnigramFlat", File(R"({"type": "Unigram", "vocab": ["a", "b"]})", kLlama2), kInvalid,
         "/model/vocab/0: not a [piece, score] pair"},
        {"UnigramNested", File(R"({"type": "Unigram", "vocab": [["a", [1]]]})", kLlama2), kInvalid,
         "/model/vocab/0: not a [piece, score] pair"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Added, WrongFileTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"NotAList",
         R"({"added_tokens": {}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE"}})",
         kInvalid, "/added_tokens: not a list"},
        {"NoId", File(Bpe(""), kByteLevel, R"(, {"content": "x"})"), kInvalid,
         "/added_tokens/1/id: not a whole number"},
        {"NotAnObject", File(Bpe(""), kByteLevel, ", 7"), kInvalid,
         "/added_tokens/1/id: not a whole number"},
        {"NoContent", File(Bpe(""), kByteLevel, R"(, {"id": 1, "content": ""})"), kInvalid,
         "/added_tokens/1/content: not a text of at least one character"},
        {"HugeId", File(Bpe(""), kByteLevel, R"(, {"id": 2147483648, "content": "x"})"), kInvalid,
         "/added_tokens/1/id: id 2147483648 is not in 0 to 2097151"},
        {"IdTwice", File(Bpe(""), kByteLevel, R"(, {"id": 99, "content": "x"})"), kInvalid,
         "/added_tokens/1/id: id 99 is another token's"},
        {"ContentTwice", File(Bpe(""), kByteLevel, R"(, {"id": 98, "content": "</s>"})"), kInvalid,
         "/added_tokens/1/content: an earlier added token has the same"},
        {"IdOfAPiece", File(Bpe(R"("a": 1)"), kByteLevel, R"(, {"id": 1, "content": "x"})"),
         kInvalid, "/added_tokens/1/id: id 1 is another token's"},
        {"PieceWithAnotherId", File(Bpe(R"("x": 1)"), kByteLevel, R"(, {"id": 2, "content": "x"})"),
         kInvalid, "/added_tokens/1/id: /model/vocab has the same content with id 1"},
    }),
    [](const auto& test) { return test.param.name; });

std::string Decoder(absl::string_view decoder) {
  return File(Bpe(R"("a": 0)"), absl::StrCat(R"("decoder": )", decoder, ", "));
}

INSTANTIATE_TEST_SUITE_P(
    Unsupported, WrongFileTest,
    testing::ValuesIn(std::vector<FileCase>{
        {"WordPiece", File(R"({"type": "WordPiece", "vocab": {}})"), kUnimplemented,
         "/model/type: the model type WordPiece is not supported: its tokens do not keep the white "
         "space between them"},
        {"UnknownModel", File(R"({"type": "New", "vocab": {}})"), kUnimplemented,
         "/model/type: the model type \"New\" is not supported"},
        {"EndOfWord", File(Bpe("", R"(, "end_of_word_suffix": "</w>")"), kByteLevel),
         kUnimplemented,
         "/model/end_of_word_suffix: BPE with end_of_word_suffix is not supported: its tokens do "
         "not keep the white space between them"},
        {"WordLevelWithoutADecoder", File(R"({"type": "WordLevel", "vocab": {"a": 0}})"),
         kUnimplemented,
         "/decoder: a file without a decoder is not supported: it does not say which white space "
         "stands between two tokens"},
        {"WordPieceDecoder", Decoder(R"({"type": "WordPiece"})"), kUnimplemented,
         "/decoder: the decoder \"WordPiece\" is not supported: the text of one of its tokens "
         "depends on those beside it"},
        {"ReplaceByRegex",
         Decoder(R"({"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""})"),
         kUnimplemented, "/decoder/pattern: a Replace decoder without a String is not supported"},
        {"StripOfEachToken", Decoder(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})"),
         kUnimplemented,
         "/decoder: the decoder \"Strip\" is not supported: the text of one of its tokens depends "
         "on those beside it"},
        {"ReplaceAfterFuse", Decoder(R"({"type": "Sequence", "decoders": [{"type": "Fuse"},
            {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}]})"),
         kUnimplemented,
         "/decoder/decoders/1: the decoder Replace is not supported: it follows one that joins all "
         "tokens"},
    }),
    [](const auto& test) { return test.param.name; });

std::string Repeated(absl::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) absl::StrAppend(&all, text);
  return all;
}

TEST(HuggingFaceTest, DepthIsBounded) {
  const absl::Status status = ReadHuggingFace("{\"x\": " + Repeated("[", 100000)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "/x" + Repeated("/0", 63) + ": limit tokenizer_json_depth is 64, 65 needed");
}

TEST(HuggingFaceTest, WidthIsBounded) {
  const absl::Status status =
      ReadHuggingFace("{\"x\": [" + Repeated("0,", 1 << 20) + "0]}").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "/x/1048574: limit tokenizer_json_values is 1048576, 1048577 needed");
}

// Merges are not kept, so their depth costs a bit a level and nothing else.
TEST(HuggingFaceTest, DepthOfMergesIsHarmless) {
  const std::string deep = Repeated("[", 1000000) + Repeated("]", 1000000);
  EXPECT_TRUE(ReadHuggingFace(
                  File(absl::StrCat(R"({"merges": )", deep, R"(, "vocab": {"a": 0}})"), kByteLevel))
                  .ok());
}

// Any prefix and any changed byte of a file is read or refused; sanitizers watch.
TEST(HuggingFaceTest, SpoiledFilesAreReadOrRefused) {
  const std::string whole = File(Bpe(R"("<0x41>": 0, "▁a": 1)", R"(, "unk_token": "u")"), kLlama2,
                                 R"(, {"id": 3, "content": "é"})");
  ASSERT_TRUE(ReadHuggingFace(whole).ok());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_FALSE(ReadHuggingFace(whole.substr(0, at)).ok());
    for (const char other : {'\0', '"', '{', ']', '9', 'x', '\xFF'}) {
      std::string spoiled = whole;
      spoiled[at] = other;
      const absl::Status status = ReadHuggingFace(spoiled).status();
      EXPECT_TRUE(status.ok() || !status.message().empty());
    }
  }
}

struct StopCase {
  std::string name;
  std::string tokenizer_config;   // empty: no such file
  std::string generation_config;  // empty: no such file
  std::vector<std::string> stop_tokens;
  std::vector<TokenId> stop_ids;
};

class StopTest : public testing::TestWithParam<StopCase> {};

// Pieces a (0), </s> (1), a line end (5); added <|im_end|> (2, special), <e> (3, ordinary), <eos>
// (4, special).
std::string FileWithEnds() {
  return absl::StrCat(R"({"added_tokens": [{"id": 2, "content": "<|im_end|>", "special": true},
      {"id": 3, "content": "<e>"}, {"id": 4, "content": "<eos>", "special": true}], )",
                      kByteLevel, R"("model": )", Bpe(R"("a": 0, "</s>": 1, "Ċ": 5)"), "}");
}

TEST_P(StopTest, ComesFromTheCallerOrTheFilesBesideOrTheSpelling) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.json", FileWithEnds()));
  source.stop_tokens = GetParam().stop_tokens;
  if (!GetParam().tokenizer_config.empty())
    folder.Write("tokenizer_config.json", GetParam().tokenizer_config);
  if (!GetParam().generation_config.empty())
    folder.Write("generation_config.json", GetParam().generation_config);
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->stop_ids(), GetParam().stop_ids);
  for (const TokenId id : GetParam().stop_ids) EXPECT_TRUE((*vocabulary)->IsSpecial(id));
}

INSTANTIATE_TEST_SUITE_P(
    Stops, StopTest,
    testing::ValuesIn(std::vector<StopCase>{
        {"WellKnownAddedTokensAlone", "", "", {}, {2, 4}},
        {"TextInTokenizerConfig", R"({"eos_token": "<e>"})", "", {}, {3}},
        {"ObjectInTokenizerConfig", R"({"eos_token": {"content": "<eos>"}})", "", {}, {4}},
        {"PieceInTokenizerConfig", R"({"eos_token": "</s>"})", "", {}, {1}},
        {"NullInTokenizerConfig", R"({"eos_token": null})", "", {}, {2, 4}},
        {"IdInGenerationConfig", "", R"({"eos_token_id": 1})", {}, {1}},
        {"IdsInGenerationConfig", "", R"({"eos_token_id": [4, 2]})", {}, {2, 4}},
        {"BothFiles", R"({"eos_token": "<e>"})", R"({"eos_token_id": [4]})", {}, {3, 4}},
        {"TheCallersWin", R"({"eos_token": "<e>"})", R"({"eos_token_id": [4]})", {"</s>"}, {1}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StopTest, AFileBesideMayNameAnExtraToken) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.json", FileWithEnds()));
  source.extra_special = {{"<x>", 7}};
  folder.Write("tokenizer_config.json", R"({"eos_token": "<x>"})");
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(7));
}

TEST(StopTest, AWrongFileBesideDoesNotMatterWhereTheCallerNamesTheStops) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.json", FileWithEnds()));
  source.stop_tokens = {"<eos>"};
  folder.Write("tokenizer_config.json", "eos");
  EXPECT_TRUE(LoadVocabulary(source).ok());
}

TEST(StopTest, AnAddedTokenThatEndsATextKeepsItsSpelling) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write(
      "tokenizer.json", File(Bpe(""), kLlama2, R"(, {"id": 5, "content": "<end▁of>"})")));
  source.stop_tokens = {"<end▁of>"};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->FindSpecial("<end▁of>"), 5);
}

TEST(StopTest, APieceThatEndsATextKeepsItsSpelling) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.json", FileWithEnds()));
  source.stop_tokens = {"Ċ"};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->FindSpecial("Ċ"), 5);
}

struct WrongStopCase {
  std::string name;
  std::string file;
  std::string content;
  std::string message;
};

class WrongStopTest : public testing::TestWithParam<WrongStopCase> {};

TEST_P(WrongStopTest, IsRefusedAtItsPlace) {
  const TestFolder folder;
  const std::string path = folder.Write("tokenizer.json", FileWithEnds());
  const std::string beside = folder.Write(GetParam().file, GetParam().content);
  const absl::Status status = LoadVocabulary(SourceOf(path)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), absl::StrCat(path, ": ", beside, ": ", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Files, WrongStopTest,
                         testing::ValuesIn(std::vector<WrongStopCase>{
                             {"UnknownText", "tokenizer_config.json", R"({"eos_token": "<x>"})",
                              "/eos_token: the vocabulary has no token \"<x>\""},
                             {"Number", "tokenizer_config.json", R"({"eos_token": 4})",
                              "/eos_token: the vocabulary has no token \"\""},
                             {"NotJson", "tokenizer_config.json", "eos",
                              "1:1: not JSON: invalid literal"},
                             {"UnknownId", "generation_config.json", R"({"eos_token_id": [4, 77]})",
                              "/eos_token_id/1: the vocabulary has no token 77"},
                             {"NegativeId", "generation_config.json", R"({"eos_token_id": -1})",
                              "/eos_token_id: the vocabulary has no token -1"},
                             {"TextForAnId", "generation_config.json", R"({"eos_token_id": "<e>"})",
                              "/eos_token_id: the vocabulary has no token \"<e>\""},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
