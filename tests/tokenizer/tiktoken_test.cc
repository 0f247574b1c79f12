// Rank files: exact bytes, holes, what lies beside them, presets, and every kind of wrong line.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

// `count` ranks, each of three bytes of its own.
std::string Ranks(int count) {
  std::string lines;
  for (int rank = 0; rank < count; ++rank) {
    const char bytes[] = {static_cast<char>(rank >> 16), static_cast<char>(rank >> 8),
                          static_cast<char>(rank)};
    absl::StrAppend(&lines, absl::Base64Escape(absl::string_view(bytes, sizeof(bytes))), " ", rank,
                    "\n");
  }
  return lines;
}

VocabularySource WithEnd(const std::string& path, TokenId id) {
  VocabularySource source = SourceOf(path);
  source.extra_special = {{"<|eot_id|>", id}};
  return source;
}

TEST(TiktokenTest, BytesAreThoseOfTheFile) {
  const TestFolder folder;
  const std::string path = folder.Write("v.tiktoken", "YQ== 0\n/w== 1\nAAAA 2\n4paB 3\n");
  const auto vocabulary = LoadVocabulary(WithEnd(path, 4));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->TokenBytes(0), "a");
  EXPECT_EQ((*vocabulary)->TokenBytes(1), "\xFF");
  EXPECT_EQ((*vocabulary)->TokenBytes(2), std::string(3, '\0'));
  EXPECT_EQ((*vocabulary)->TokenBytes(3), "\xE2\x96\x81");
  EXPECT_EQ((*vocabulary)->FindSpecial("<|eot_id|>"), 4);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(4));
}

TEST(TiktokenTest, OrderHolesEmptyLinesAndLineEndsDoNotMatter) {
  const TestFolder folder;
  const std::string path = folder.Write("v.tiktoken", "Yw== 5\r\n\r\nYQ== 0\n\nYg== 2");
  const auto vocabulary = LoadVocabulary(WithEnd(path, 3));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  ASSERT_EQ((*vocabulary)->size(), 6);
  EXPECT_EQ((*vocabulary)->TokenBytes(5), "c");
  EXPECT_EQ((*vocabulary)->TokenBytes(2), "b");
  EXPECT_EQ((*vocabulary)->TokenBytes(1), "");
  EXPECT_FALSE((*vocabulary)->IsSpecial(1));
}

struct LineCase {
  std::string name;
  std::string content;
  std::string message;
};

class WrongLineTest : public testing::TestWithParam<LineCase> {};

TEST_P(WrongLineTest, IsRefusedAtItsPlace) {
  const TestFolder folder;
  VocabularySource source = WithEnd(folder.Write("v.tiktoken", GetParam().content), 9);
  source.format = "tiktoken";
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_FALSE(vocabulary.ok());
  EXPECT_EQ(vocabulary.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(vocabulary.status()), source.path);
  EXPECT_EQ(MessageAfterPath(vocabulary.status()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, WrongLineTest,
    testing::ValuesIn(std::vector<LineCase>{
        {"NoRank", "YQ== 0\nYg==\n", "2:1: not \"BASE64 RANK\""},
        {"NoToken", "YQ== 0\n 1\n", "2:1: \"\" is not base64"},
        {"NotBase64", "YQ== 0\nY*== 1\n", "2:1: \"Y*==\" is not base64"},
        {"NoPadding", "YQ 0\n", "1:1: \"YQ\" is not base64"},
        {"LooseBits", "YR== 0\n", "1:1: \"YR==\" is not base64"},
        {"TabInBase64", "Y\tQ== 0\n", "1:1: \"Y\\tQ==\" is not base64"},
        {"NegativeRank", "YQ== -1\n", "1:6: \"-1\" is not a rank"},
        {"SignedRank", "YQ== +1\n", "1:6: \"+1\" is not a rank"},
        {"RankWithText", "YQ== 1x\n", "1:6: \"1x\" is not a rank"},
        {"TwoSpaces", "YQ==  1\n", "1:6: \" 1\" is not a rank"},
        {"EmptyRank", "YQ== \n", "1:6: \"\" is not a rank"},
        {"HugeRank", "YQ== 2147483648\n", "1:6: id 2147483648 is not in 0 to 2097151"},
        {"EndlessRank", "YQ== 99999999999999999999\n",
         "1:6: \"99999999999999999999\" is not a rank"},
        {"RankTwice", "YQ== 0\nYg== 0\n", "2:6: id 0 is another token's"},
        {"BytesTwice", "YQ== 0\nYQ== 1\n", "2:1: an earlier line has the same bytes"},
        {"NotUtf8", "\xFF\xFE 0\n", "1:1: \"\\xff\\xfe\" is not base64"},
        {"LongLine", std::string(100, '!') + " 0\n",
         "1:1: \"" + std::string(61, '!') + "...\" is not base64"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(TiktokenTest, AStopTokenIsOneThatTheFileDoesNotList) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", "YQ== 0\n"));
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "stop_tokens: the file names no token that ends a text: name one");
  source.stop_tokens = {"a"};
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "stop_tokens: no token is spelled \"a\"");
}

TEST(TiktokenTest, AnExtraTokenMayNotTakeARank) {
  const TestFolder folder;
  const VocabularySource source = WithEnd(folder.Write("v.tiktoken", "YQ== 0\n"), 0);
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "special \"<|eot_id|>\": id 0 is another token's");
}

TEST(TiktokenBesideTest, SpecialAndStopTokensComeFromTheFileBeside) {
  const TestFolder folder;
  const std::string path = folder.Write("v.1.tiktoken", "YQ== 0\n");
  folder.Write("v.1.special.json", R"({"special": {"<s>": 1, "<e>": 2}, "stop": ["<e>"]})");
  const auto vocabulary = LoadVocabulary(SourceOf(path));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(1, 2));
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2));
}

TEST(TiktokenBesideTest, TheCallersTokensAreTakenInstead) {
  const TestFolder folder;
  const std::string path = folder.Write("v.tiktoken", "YQ== 0\n");
  folder.Write("v.special.json", R"({"special": {"<s>": 1, "<e>": 2}, "stop": ["<e>"]})");
  const auto vocabulary = LoadVocabulary(WithEnd(path, 1));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->FindSpecial("<|eot_id|>"), 1);
  EXPECT_EQ((*vocabulary)->size(), 2);
}

class WrongBesideTest : public testing::TestWithParam<LineCase> {};

TEST_P(WrongBesideTest, IsRefusedAtItsPlace) {
  const TestFolder folder;
  const std::string path = folder.Write("v.tiktoken", "YQ== 0\n");
  const std::string beside = folder.Write("v.special.json", GetParam().content);
  const absl::Status status = LoadVocabulary(SourceOf(path)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), absl::StrCat(path, ": ", beside, ": ", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrongBesideTest,
    testing::ValuesIn(std::vector<LineCase>{
        {"NotJson", "{", "1:2: not JSON: unexpected end of input; expected string literal"},
        {"SpecialIsAList", R"({"special": ["<e>"]})",
         "/special: not an object of spellings and ids"},
        {"IdIsText", R"({"special": {"<e>": "1"}})", "/special/<e>: not a spelling with an id"},
        {"IdTaken", R"({"special": {"<e>": 0}})", "/special/<e>: id 0 is another token's"},
        {"SpellingTwice", R"({"special": {"<e>": 1, "<e>": 2}})", "/special/<e>: appears twice"},
        {"StopIsText", R"({"stop": "<e>"})", "/stop: not a list of spellings"},
        {"StopUnknown", R"({"special": {"<e>": 1}, "stop": ["<f>"]})",
         "/stop/0: not the spelling of a token"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SpecialPresetTest, Llama3HasTheModelsOwnIds) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", Ranks(128000)));
  source.special_preset = "llama3";
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 128256);
  EXPECT_EQ((*vocabulary)->special_ids().size(), 256U);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|begin_of_text|>"), 128000);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|eot_id|>"), 128009);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|reserved_special_token_0|>"), 128002);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|reserved_special_token_2|>"), 128012);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|reserved_special_token_245|>"), 128255);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(128001, 128008, 128009));
}

TEST(SpecialPresetTest, QwenHasTheModelsOwnIdsAndTheCallersStop) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", Ranks(151643)));
  source.special_preset = "qwen";
  source.stop_tokens = {"<|im_end|>"};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 151851);
  EXPECT_EQ((*vocabulary)->FindSpecial("<|extra_204|>"), 151850);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(151645));
}

TEST(SpecialPresetTest, IsRefusedForAFileOfAnotherSize) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", Ranks(3)));
  source.special_preset = "llama3";
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "special_preset: llama3 is for 128000 tokens; the file has 3");
}

TEST(SpecialPresetTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", Ranks(3)));
  source.special_preset = "lama3";
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "special_preset: \"lama3\" is not one of llama3, qwen");
  EXPECT_THAT(SpecialPresets(), testing::ElementsAre("llama3", "qwen"));
}

}  // namespace
}  // namespace maskd
