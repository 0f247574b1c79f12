// GGUF files: pieces to bytes, end tokens, and every kind of wrong file.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
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
#include "tests/tokenizer/gguf_bytes.h"
#include "tests/tokenizer/model_bytes.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

std::string Model(absl::string_view model) {
  return Pair("tokenizer.ggml.model", kString, Text(model));
}

std::string End(std::uint64_t id) {
  return Pair("tokenizer.ggml.eos_token_id", kUint32, Number(id, 4));
}

struct Token {
  std::string piece;
  int type = kNormal;
};

std::string Tokens(const std::vector<Token>& tokens) {
  std::vector<std::string> written;
  for (const Token& token : tokens) written.push_back(Text(token.piece));
  return Pair("tokenizer.ggml.tokens", kArray, ArrayOf(kString, written));
}

std::string Types(const std::vector<Token>& tokens) {
  std::vector<std::string> written;
  for (const Token& token : tokens)
    written.push_back(Number(static_cast<std::uint64_t>(token.type), 4));
  return Pair("tokenizer.ggml.token_type", kArray, ArrayOf(kInt32, written));
}

// A file whose token 0 is the end.
std::string FileWith(absl::string_view model, Token second, const std::string& more = "") {
  const std::vector<Token> tokens = {{"</s>", kControl}, std::move(second)};
  std::vector<std::string> pairs = {Model(model), Tokens(tokens), Types(tokens), End(0)};
  if (!more.empty()) pairs.push_back(more);
  return File(pairs);
}

struct PieceCase {
  std::string name;
  std::string model;
  Token token;
  std::string bytes;
  bool special = false;
};

class GgufPieceTest : public testing::TestWithParam<PieceCase> {};

TEST_P(GgufPieceTest, StandsForTheseBytes) {
  const auto vocabulary = LoadContent("v.gguf", FileWith(GetParam().model, GetParam().token));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 2);
  EXPECT_EQ((*vocabulary)->TokenBytes(1), GetParam().bytes);
  EXPECT_EQ((*vocabulary)->IsSpecial(1), GetParam().special);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(0));
}

INSTANTIATE_TEST_SUITE_P(Llama, GgufPieceTest,
                         testing::ValuesIn(std::vector<PieceCase>{
                             {"Text", "llama", {"▁the"}, " the"},
                             {"SpelledLikeAByte", "llama", {"<0x41>"}, "<0x41>"},
                             {"Byte", "llama", {"<0x0A>", kByte}, "\n"},
                             {"UserDefinedIsItself", "llama", {"▁<x>", kUserDefined}, "▁<x>"},
                             {"Control", "llama", {"<s>", kControl}, "<s>", true},
                             {"Unknown", "llama", {"<unk>", kUnknown}, "<unk>", true},
                             {"UnusedHasNoText", "llama", {"x", kUnused}, ""},
                             {"OfAnUnknownTypeHasNoText", "llama", {"x", 99}, ""},
                             {"EmptyHasNoText", "llama", {""}, ""},
                             {"T5", "t5", {"▁the"}, " the"},
                             {"Gemma4", "gemma4", {"▁▁"}, "  "},
                             {"Gemma4Byte", "gemma4", {"<0xFF>", kByte}, "\xFF"},
                         }),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Gpt2, GgufPieceTest,
                         testing::ValuesIn(std::vector<PieceCase>{
                             {"Text", "gpt2", {"Ġthe"}, " the"},
                             {"PartOfACharacter", "gpt2", {"ðŁĺ"}, "\xF0\x9F\x98"},
                             {"NotOfTheAlphabet", "gpt2", {"☃"}, "☃"},
                             {"UserDefinedIsItself", "gpt2", {"Ġ<x>", kUserDefined}, "Ġ<x>"},
                             {"Control", "gpt2", {"<｜x▁y｜>", kControl}, "<｜x▁y｜>", true},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(GgufTest, APreTokenizerMayHaveTheMetaspace) {
  const std::string pre = Pair("tokenizer.ggml.pre", kString, Text("sarvam-moe"));
  const auto vocabulary = LoadContent("v", FileWith("gpt2", {"▁a"}, pre));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(1), " a");
  EXPECT_TRUE(LoadContent("v", FileWith("gpt2", {"<0x41>", kByte}, pre)).ok());
}

TEST(GgufTest, WithoutTypesAllTokensAreOrdinary) {
  const auto vocabulary = LoadContent("v", File({Model("gpt2"), Tokens({{"Ġ"}, {"b"}}), End(1)}));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(0), " ");
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(1));
}

// Every type of value, and arrays of each, stand between the keys that count.
TEST(GgufTest, OtherValuesAreSkipped) {
  std::vector<std::string> pairs;
  const std::vector<int> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (int type = kUint8; type <= kFloat64; ++type) {
    const std::string value = type == kString  ? Text("text")
                              : type == kArray ? ArrayOf(kString, {Text("a"), Text("")})
                                               : Number(1, sizes[static_cast<std::size_t>(type)]);
    pairs.push_back(Pair(absl::StrCat("x.", type), type, value));
    pairs.push_back(Pair(absl::StrCat("y.", type), kArray, ArrayOf(type, {value, value, value})));
    pairs.push_back(Pair(absl::StrCat("z.", type), kArray, ArrayOf(type, {})));
  }
  const std::vector<Token> tokens = {{"</s>", kControl}, {"a"}};
  for (const std::string& pair : {Types(tokens), Tokens(tokens), Model("llama"), End(0)})
    pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2), pair);
  pairs.push_back(Pair("tokenizer.ggml.merges", kArray, ArrayOf(kString, {Text("a b")})));
  const auto vocabulary = LoadContent("v", File(pairs) + "what follows is not looked at");
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(1), "a");
}

TEST(GgufTest, AFileOfATebibyteCostsWhatItsMetadataDoes) {
  const TestFolder folder;
  const std::string path = folder.Write("v.gguf", FileWith("llama", {"a"}));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // a hole: no disk is used
  EXPECT_TRUE(LoadVocabulary(SourceOf(path)).ok());
}

struct StopCase {
  std::string name;
  std::vector<Token> tokens;
  std::vector<std::string> pairs;
  std::vector<TokenId> stop_ids;
};

class GgufStopTest : public testing::TestWithParam<StopCase> {};

TEST_P(GgufStopTest, ComesFromTheKeysAndTheSpelling) {
  std::vector<std::string> pairs = {Model("llama"), Tokens(GetParam().tokens),
                                    Types(GetParam().tokens)};
  pairs.insert(pairs.end(), GetParam().pairs.begin(), GetParam().pairs.end());
  const auto vocabulary = LoadContent("v", File(pairs));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->stop_ids(), GetParam().stop_ids);
}

const std::vector<Token> kChat = {
    {"a"}, {"</s>"}, {"<e>", kControl}, {"<|im_end|>", kUserDefined}, {"<f>", kControl}, {"▁g"}};
const std::vector<Token> kMessages = {{"<|end|>", kControl}, {"<|return|>", kControl}};

INSTANTIATE_TEST_SUITE_P(Keys, GgufStopTest,
                         testing::ValuesIn(std::vector<StopCase>{
                             {"SpellingAlone", kChat, {}, {3}},
                             {"EndOfTextAndSpelling", kChat, {End(2)}, {2, 3}},
                             {"OrdinaryEnd", kChat, {End(5)}, {3, 5}},
                             {"EndOfTurn",
                              kChat,
                              {End(2), Pair("tokenizer.ggml.eot_token_id", kUint64, Number(4, 8))},
                              {2, 3, 4}},
                             {"EndOfMessage",
                              kChat,
                              {End(2), Pair("tokenizer.ggml.eom_token_id", kInt32, Number(0, 4))},
                              {0, 2, 3}},
                             {"EndOfAMessageAmongSeveral", kMessages, {}, {1}},
                             {"EndOfAMessageByKey", kMessages, {End(0)}, {0, 1}},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(GgufStopTest, TheCallersIsAPieceByItsSpelling) {
  const TestFolder folder;
  VocabularySource source =
      SourceOf(folder.Write("v.gguf", File({Model("llama"), Tokens(kChat), Types(kChat), End(2)})));
  source.stop_tokens = {"▁g"};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(5));
}

struct WrongCase {
  std::string name;
  std::string content;
  std::string message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class WrongGgufTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongGgufTest, IsRefusedAtItsPlace) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.gguf", GetParam().content));
  source.format = "gguf";
  const absl::Status status = LoadVocabulary(source).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(MessageAfterPath(status), GetParam().message);
}

constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

std::string Header(int version, std::uint64_t pairs) {
  return "GGUF" + Number(static_cast<std::uint64_t>(version), 4) + Number(0, 8) + Number(pairs, 8);
}

// An array of `levels` levels.
std::string Nested(int levels) {
  std::string value = ArrayOf(kUint8, {});
  for (int i = 1; i < levels; ++i) value = ArrayOf(kArray, {value});
  return File({Pair("x", kArray, value)});
}

INSTANTIATE_TEST_SUITE_P(
    Header, WrongGgufTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"OtherMagic", "GGMLxxxx", "byte 0: the file does not begin with \"GGUF\""},
        {"Short", "GG", "byte 0: a value of 4 bytes, and the file has 2 more"},
        {"NoCounts", "GGUF" + Number(3, 4), "byte 8: a value of 8 bytes, and the file has 0 more"},
        {"VersionOne", Header(1, 0), "byte 4: version 1 of GGUF is not supported", kUnimplemented},
        {"VersionFour", Header(4, 0), "byte 4: version 4 of GGUF is not supported", kUnimplemented},
        {"OtherByteOrder", Header(3 << 24, 0),
         "byte 4: a file with the most significant byte first is not supported", kUnimplemented},
        {"PairsThatAreNotThere", Header(3, ~std::uint64_t{0}),
         "byte 24: a value of 8 bytes, and the file has 0 more"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, WrongGgufTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"EmptyKey", File({Pair("", kUint8, "x")}), "byte 24: a key of 0 bytes"},
        {"LongKey", Header(3, 1) + Number(65536, 8) + std::string(70000, 'k'),
         "byte 24: a key of 65536 bytes"},
        {"UnknownType", File({Pair("x", 13, "")}), "byte 33: 13 is no type of a value"},
        {"UnknownElement", File({Pair("x", kArray, ArrayOf(13, {}))}),
         "byte 37: 13 is no type of a value"},
        {"HugeText", File({Pair("x", kString, Number(~std::uint64_t{0}, 8))}),
         "byte 45: a value of 18446744073709551615 bytes, and the file has 0 more"},
        {"HugeArray",
         File({Pair("x", kArray, Number(kUint64, 4) + Number(std::uint64_t{1} << 61, 8))}),
         "byte 49: a value of 18446744073709551615 bytes, and the file has 0 more"},
        {"HugeArrayOfTexts",
         File({Pair("x", kArray, Number(kString, 4) + Number(~std::uint64_t{0}, 8))}),
         "byte 49: a value of 8 bytes, and the file has 0 more"},
        {"ArraysWithin", Nested(9), "byte 133: limit gguf_array_depth is 8, 9 needed", kExhausted},
    }),
    [](const auto& test) { return test.param.name; });

std::string WithModel(const std::string& pair) { return File({Model("llama"), pair}); }

INSTANTIATE_TEST_SUITE_P(
    Keys, WrongGgufTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NoModel", File({}), "tokenizer.ggml.model: missing: the file has no vocabulary"},
        {"ModelIsANumber", File({Pair("tokenizer.ggml.model", kUint32, Number(1, 4))}),
         "byte 56: tokenizer.ggml.model: not a text"},
        {"Bert", File({Model("bert")}),
         "tokenizer.ggml.model: the model \"bert\" is not supported: its tokens do not keep the "
         "white space between them",
         kUnimplemented},
        {"OtherModel", File({Model("rwkv")}),
         "tokenizer.ggml.model: the model \"rwkv\" is not supported", kUnimplemented},
        {"ModelIsNotUtf8", File({Model("\xFF")}),
         "tokenizer.ggml.model: the model \"\\xff\" is not supported", kUnimplemented},
        {"KeyTwiceAndNotUtf8",
         File({Pair("tokenizer.ggml.\xFF", kUint8, "x"), Pair("tokenizer.ggml.\xFF", kUint8, "x")}),
         "tokenizer.ggml.\\xff: appears twice"},
        {"KeyTwice", File({Model("llama"), Model("llama")}), "tokenizer.ggml.model: appears twice"},
        {"NoTokens", WithModel(End(0)),
         "tokenizer.ggml.tokens: missing: the file has no vocabulary"},
        {"TokensAreNumbers",
         WithModel(Pair("tokenizer.ggml.tokens", kArray, ArrayOf(kUint8, {"x"}))),
         "byte 106: tokenizer.ggml.tokens: not an array of texts"},
        {"TokensAreAText", WithModel(Pair("tokenizer.ggml.tokens", kString, Text("x"))),
         "byte 102: tokenizer.ggml.tokens: not an array of texts"},
        {"TooManyTokens",
         WithModel(Pair("tokenizer.ggml.tokens", kArray, Number(kString, 4) + Number(2097153, 8))),
         "byte 114: tokenizer.ggml.tokens: 2097153 elements are more than 2097152"},
        {"TypesOfAnotherWidth",
         WithModel(Pair("tokenizer.ggml.token_type", kArray, ArrayOf(kUint32, {}))),
         "byte 110: tokenizer.ggml.token_type: not an array of 32-bit numbers with a sign"},
        {"FewTypes", File({Model("llama"), Tokens({{"a"}, {"b"}}), Types({{"a"}})}),
         "tokenizer.ggml.token_type: 1 types for 2 tokens"},
        {"EndIsAText", WithModel(Pair("tokenizer.ggml.eos_token_id", kString, Text("x"))),
         "byte 108: tokenizer.ggml.eos_token_id: not a whole number"},
        {"NegativeEnd", WithModel(Pair("tokenizer.ggml.eos_token_id", kInt32, Number(~0U, 4))),
         "byte 112: tokenizer.ggml.eos_token_id: a negative number"},
        {"HugeEnd",
         WithModel(Pair("tokenizer.ggml.eos_token_id", kUint64, Number(~std::uint64_t{0}, 8))),
         "byte 116: tokenizer.ggml.eos_token_id: a number past 2^63 - 1"},
        {"EndOnePast", File({Model("llama"), Tokens({{"a"}}), End(1)}),
         "tokenizer.ggml.eos_token_id: the vocabulary has no token 1"},
        {"EndWithoutText", File({Model("llama"), Tokens({{""}}), End(0)}),
         "tokenizer.ggml.eos_token_id: the vocabulary has no token 0"},
        {"NoEnd", File({Model("llama"), Tokens({{"a"}})}),
         "stop_tokens: the file names no token that ends a text: name one"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Pieces, WrongGgufTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NotUtf8", FileWith("llama", {"\xFF"}), "tokenizer.ggml.tokens[1]: not UTF-8"},
        {"SpelledTwice", FileWith("llama", {"</s>"}),
         "tokenizer.ggml.tokens[1]: spelled like token 0"},
        {"NotAByte", FileWith("llama", {"<0x4>", kByte}),
         "tokenizer.ggml.tokens[1]: of the type of a byte, and \"<0x4>\" is not <0xNN>"},
        {"LongPiece", FileWith("llama", {std::string(4097, 'a')}),
         "token 1: 4097 bytes are more than 4096"},
        {"BytesInAByteLevelAlphabet", FileWith("gpt2", {"<0x41>", kByte}),
         "tokenizer.ggml.pre: \"\" with byte tokens is not supported: its other tokens may be "
         "spelled in either of two ways",
         kUnimplemented},
    }),
    [](const auto& test) { return test.param.name; });

TEST(GgufTest, MetadataIsBounded) {
  const TestFolder folder;
  const std::string path =
      folder.Write("v.gguf", Header(3, 1) + Pair("x", kString, Number(std::uint64_t{1} << 30, 8)));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 31);
  const absl::Status status = LoadVocabulary(SourceOf(path)).status();
  EXPECT_EQ(status.code(), kExhausted);
  EXPECT_EQ(MessageAfterPath(status),
            "byte 45: limit gguf_metadata_bytes is 134217728, 1073741869 needed");
}

absl::Status Read(const std::string& content) {
  std::istringstream file(content);
  return ReadGguf(file).status();
}

// Any prefix and any changed byte of a file is read or refused; sanitizers watch.
TEST(GgufTest, SpoiledFilesAreReadOrRefused) {
  const std::string whole =
      FileWith("gpt2", {"Ġa"}, Pair("x", kArray, ArrayOf(kArray, {ArrayOf(kString, {})})));
  ASSERT_TRUE(Read(whole).ok());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const absl::Status cut = Read(whole.substr(0, at));
    EXPECT_TRUE(absl::StartsWith(cut.message(), "byte ")) << cut;
    for (const char other : {'\0', '\1', '\x05', '\x09', '\x7F', '\x80', '\xFF'}) {
      std::string spoiled = whole;
      spoiled[at] = other;
      const absl::Status status = Read(spoiled);
      EXPECT_TRUE(status.ok() || !status.message().empty());
    }
  }
}

}  // namespace
}  // namespace maskd
