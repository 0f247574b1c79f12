// Files of vocabularies: what may be opened, how much is read, and the places of errors.
#include "grammar_core/tokenizer/source_file.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "tests/base/test_folder.h"

namespace maskd {
namespace {

using std::string_literals::operator""s;

TEST(SourceFileTest, ReadsHeadAndWholeAnyNumberOfTimes) {
  const TestFolder folder;
  const std::string path = folder.Write("f", "ab\0c\r\n"s);
  absl::StatusOr<SourceFile> file = SourceFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path(), path);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(file->ReadHead(0).value(), "");
    EXPECT_EQ(file->ReadHead(3).value(), "ab\0"s);
    EXPECT_EQ(file->ReadHead(1000).value(), "ab\0c\r\n"s);
    EXPECT_EQ(file->ReadWhole("limit", 6).value(), "ab\0c\r\n"s);
  }
  EXPECT_EQ(file->stream().get(), 'a');
}

// The head is the file's, wherever the stream stands.
TEST(SourceFileTest, ReadsFromTheStartAfterTheCallerHasRead) {
  const TestFolder folder;
  absl::StatusOr<SourceFile> file = SourceFile::Open(folder.Write("f", "abc"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->stream().get(), 'a');
  EXPECT_EQ(file->ReadHead(2).value(), "ab");
  std::string all;
  file->stream() >> all;
  EXPECT_EQ(all, "abc");
  ASSERT_TRUE(file->stream().eof());
  EXPECT_EQ(file->ReadWhole("limit", 3).value(), "abc");
}

TEST(SourceFileTest, AFileOverTheLimitIsRefused) {
  const TestFolder folder;
  const std::string path = folder.Write("f", "abc");
  absl::StatusOr<SourceFile> file = SourceFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const absl::Status status = file->ReadWhole("some_bytes", 2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), path + ": limit some_bytes is 2, 3 needed");
  EXPECT_EQ(ErrorPlace(status), path);
  EXPECT_TRUE(file->ReadWhole("some_bytes", 3).ok());
}

TEST(SourceFileTest, AFileThatBecameShorterIsAnError) {
  const TestFolder folder;
  const std::string path = folder.Write("f", std::string(100000, 'a'));
  absl::StatusOr<SourceFile> file = SourceFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::resize_file(path, 10);
  const absl::Status status = file->ReadWhole("limit", 100000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrorPlace(status), path);
  EXPECT_EQ(file->ReadHead(10).value(), std::string(10, 'a'));
}

TEST(SourceFileTest, WhatIsNoFileWithContentIsRefused) {
  const TestFolder folder;
  folder.Write("f", "abc");
  std::filesystem::create_symlink("loop", folder.Path("loop"));
  std::filesystem::create_symlink("gone", folder.Path("broken"));
  struct Case {
    std::string path;
    absl::StatusCode code;
  };
  for (const Case& refused : std::vector<Case>{
           {folder.Path(""), absl::StatusCode::kInvalidArgument},
           {folder.Write("empty", ""), absl::StatusCode::kInvalidArgument},
           {"/dev/null", absl::StatusCode::kInvalidArgument},
           {folder.Path("gone"), absl::StatusCode::kNotFound},
           {folder.Path("broken"), absl::StatusCode::kNotFound},
           {folder.Path("f/below"), absl::StatusCode::kNotFound},
       }) {
    const absl::Status status = SourceFile::Open(refused.path).status();
    EXPECT_EQ(status.code(), refused.code) << status;
    EXPECT_EQ(ErrorPlace(status), refused.path);
    EXPECT_TRUE(absl::StartsWith(status.message(), refused.path + ": ")) << status;
  }
  const absl::Status loop = SourceFile::Open(folder.Path("loop")).status();
  EXPECT_TRUE(absl::StartsWith(loop.message(), folder.Path("loop") + ": ")) << loop;
}

TEST(SourceFileTest, ALinkToAFileIsThatFile) {
  const TestFolder folder;
  folder.Write("f", "abc");
  std::filesystem::create_symlink("f", folder.Path("link"));
  absl::StatusOr<SourceFile> file = SourceFile::Open(folder.Path("link"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->ReadHead(9).value(), "abc");
}

TEST(LineColumnTest, CountsLinesAndBytesFromOne) {
  const std::string text = "ab\n\né\r\nx";
  EXPECT_EQ(LineColumn("", 0), "1:1");
  EXPECT_EQ(LineColumn(text, 0), "1:1");
  EXPECT_EQ(LineColumn(text, 2), "1:3");
  EXPECT_EQ(LineColumn(text, 3), "2:1");
  EXPECT_EQ(LineColumn(text, 4), "3:1");
  EXPECT_EQ(LineColumn(text, 6), "3:3");
  EXPECT_EQ(LineColumn(text, 8), "4:1");
  EXPECT_EQ(LineColumn(text, text.size()), "4:2");
  EXPECT_EQ(LineColumn(text, 1000), "4:2");
}

TEST(ErrorsTest, HaveAPlaceAndAReason) {
  const absl::Status invalid = InvalidTokenizer("1:2", "wrong");
  EXPECT_EQ(invalid.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(invalid.message(), "1:2: wrong");
  EXPECT_EQ(ErrorReason(invalid), "INVALID_TOKENIZER");
  const absl::Status in_file = InFile("f.json", LimitExceeded("/a", "some_limit", 1, 2));
  EXPECT_EQ(in_file.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(in_file.message(), "f.json: /a: limit some_limit is 1, 2 needed");
  EXPECT_EQ(ErrorPlace(in_file), "f.json");
  EXPECT_EQ(ErrorReason(in_file), "LIMIT_EXCEEDED");
}

TEST(ShortenedTest, KeepsSixtyFourBytes) {
  EXPECT_EQ(Shortened(""), "");
  EXPECT_EQ(Shortened(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(Shortened(std::string(65, 'a')), std::string(61, 'a') + "...");
}

// Wherever the cut falls in a character of 2, 3 or 4 bytes.
TEST(ShortenedTest, CutsBetweenCharacters) {
  for (const std::string& character : {"é"s, "▁"s, "😀"s}) {
    for (std::size_t before = 0; before < 4; ++before) {
      std::string text(before, 'a');
      while (text.size() < 70) text += character;
      const std::string shown = Shortened(text);
      EXPECT_LE(shown.size(), 64U);
      EXPECT_GT(shown.size(), 64 - character.size());
      EXPECT_TRUE(Utf8ToCodePoints(shown).has_value()) << shown;
      EXPECT_TRUE(absl::StartsWith(text, shown.substr(0, shown.size() - 3)));
    }
  }
  EXPECT_LE(Shortened(std::string(100, '\x80')).size(), 64U);
}

}  // namespace
}  // namespace maskd
