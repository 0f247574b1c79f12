// What the loader decides around a format's reader: files, formats, the embedded vocabulary.
#include "grammar_core/tokenizer/loader.h"

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

constexpr char kSmallJson[] =
    R"({"added_tokens": [{"id": 1, "content": "</s>", "special": true}],
        "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0}}})";

TEST(LoaderTest, TheFormatIsToldFromTheContentNotFromTheName) {
  EXPECT_TRUE(LoadContent("ranks.tiktoken", kSmallJson).ok());
  EXPECT_TRUE(LoadContent("x", absl::StrCat("\xEF\xBB\xBF \n", kSmallJson)).ok());
  const TestFolder folder;
  VocabularySource ranks = SourceOf(folder.Write("tokenizer.json", "YQ== 0\r\n"));
  ranks.extra_special = {{"</s>", 1}};
  EXPECT_TRUE(LoadVocabulary(ranks).ok());
}

TEST(LoaderTest, BothFormatsOfTheSameTokensHaveOneHash) {
  const auto json = LoadContent("tokenizer.json", kSmallJson);
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v.tiktoken", "YQ== 0\n"));
  source.extra_special = {{"</s>", 1}};
  const auto ranks = LoadVocabulary(source);
  ASSERT_TRUE(json.ok() && ranks.ok());
  EXPECT_EQ((*json)->hash(), (*ranks)->hash());
}

TEST(LoaderTest, ContentOfNoFormatIsRefusedWithTheKnownOnes) {
  const absl::Status status = LoadContent("v", std::string("PK\x03\x04", 4)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      MessageAfterPath(status),
      "1:1: the content is of no known format: tekken, huggingface, gguf, sentencepiece, tiktoken");
}

TEST(LoaderTest, AFormatThatIsNamedIsTheOneTried) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("v", kSmallJson));
  source.format = "tiktoken";
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "1:1: \"{\\\"added_tokens\\\":\" is not base64");
  source.format = "csv";
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "format: \"csv\" is not one of tekken, huggingface, gguf, sentencepiece, tiktoken");
  EXPECT_THAT(VocabularyFormats(),
              testing::ElementsAre("tekken", "huggingface", "gguf", "sentencepiece", "tiktoken"));
}

TEST(LoaderTest, AnExtraTokenMayRepeatWhatTheFileSays) {
  const TestFolder folder;
  VocabularySource source = SourceOf(folder.Write("tokenizer.json", kSmallJson));
  source.extra_special = {{"</s>", 1}, {"<new>", 4}};
  const auto vocabulary = LoadVocabulary(source);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(1, 4));
  source.extra_special = {{"<other>", 1}};
  EXPECT_EQ(MessageAfterPath(LoadVocabulary(source).status()),
            "special \"<other>\": id 1 is another token's");
}

TEST(LoaderTest, ANameIsNeeded) {
  EXPECT_EQ(LoadVocabulary(VocabularySource{}).status().message(), "name: must not be empty");
}

TEST(LoaderTest, WithoutAPathItIsTheEmbeddedVocabularyUnderTheGivenName) {
  const auto vocabulary = LoadVocabulary(SourceOf(""));
  ASSERT_TRUE(vocabulary.ok());
  EXPECT_EQ((*vocabulary)->name(), "test");
  EXPECT_EQ((*vocabulary)->hash(), EmbeddedByteVocabulary()->hash());
  VocabularySource wish = SourceOf("");
  wish.stop_tokens = {"x"};
  EXPECT_EQ(LoadVocabulary(wish).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LoaderFileTest, AMissingFileIsNotFound) {
  const TestFolder folder;
  const absl::Status status = LoadVocabulary(SourceOf(folder.Path("none"))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), absl::StrCat(folder.Path("none"), ": no such file"));
}

TEST(LoaderFileTest, AFolderADeviceAndAnEmptyFileAreRefused) {
  const TestFolder folder;
  for (const std::string& path : {folder.Path(""), std::string("/dev/zero")}) {
    const absl::Status status = LoadVocabulary(SourceOf(path)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(MessageAfterPath(status), "not a regular file");
  }
  EXPECT_EQ(MessageAfterPath(LoadContent("v", "").status()), "the file is empty");
}

TEST(LoaderFileTest, AFileOverTheLimitIsNotRead) {
  const TestFolder folder;
  const std::string path = folder.Write("v", "{");
  std::filesystem::resize_file(path, 1 << 30);  // a hole: no disk is used
  const absl::Status status = LoadVocabulary(SourceOf(path)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(MessageAfterPath(status),
            "limit vocabulary_file_bytes is 134217728, 1073741824 needed");
}

TEST(LoaderFileTest, AFileThatMayNotBeReadSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const TestFolder folder;
  const std::string path = folder.Write("v", kSmallJson);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(LoadVocabulary(SourceOf(path)).status().code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace maskd
