#include "service/grammars/preload.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/file_stamp.h"
#include "service/base/log.h"
#include "tests/base/test_folder.h"
#include "tests/service/config/nothing_ahead.h"

namespace maskd::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

class PreloadTest : public testing::Test {
 protected:
  PreloadTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(NothingAhead(), nullptr) {
    SilenceLog();
  }

  absl::StatusOr<std::vector<cache::GrammarPtr>> Run() {
    return Preload(folder_.Path(""), *tokenizers_, &grammars_);
  }

  // What is wrong, which must name the file.
  std::string ErrorOf(const std::string& file) {
    const auto loaded = Run();
    EXPECT_TRUE(absl::IsInvalidArgument(loaded.status())) << loaded.status();
    const std::string message(loaded.status().message());
    EXPECT_THAT(message, testing::StartsWith("--grammars: ")) << message;
    EXPECT_THAT(message, HasSubstr(At(file))) << message;
    return message;
  }

  [[nodiscard]] std::string At(const std::string& name) const { return folder_.Path(name); }
  void Write(const std::string& name, const std::string& text) const { folder_.Write(name, text); }

  const TestFolder folder_;
  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
};

TEST_F(PreloadTest, EachFileIsTheGrammarThatARequestWithoutOptionsGets) {
  Write("b.regex", "[ab]+");
  Write("a.choice", R"(["yes","no"])");
  Write(".hidden", "not a grammar");
  fs::create_directory(At("folder.choice"));
  fs::create_symlink(At("b.regex"), At("c.regex"));  // as a ConfigMap has its files
  fs::create_directory_symlink(At("folder.choice"), At("d.regex"));
  const auto loaded = Run();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  std::vector<std::string> kinds;
  for (const cache::GrammarPtr& grammar : *loaded) kinds.push_back(grammar->source().kind);
  EXPECT_THAT(kinds, ElementsAre("choice", "regex", "regex"));
  EXPECT_EQ((*loaded)[1]->id(), (*loaded)[2]->id());
  const auto known = grammars_.Get({(*loaded)[0]->id(), std::nullopt}, tokenizers_->all().front());
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->ticket.result()->get(), (*loaded)[0].get());
}

TEST_F(PreloadTest, WithoutAFolderThereIsNothing) {
  const auto loaded = Preload("", *tokenizers_, &grammars_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->empty());
  EXPECT_TRUE(Run()->empty());
  fs::remove_all(folder_.Path(""));
  EXPECT_THAT(Run().status().message(), HasSubstr("No such file or directory"));
}

TEST_F(PreloadTest, ALinkThatLeadsNowhereIsSaid) {
  Write("a.choice", R"(["yes"])");
  fs::create_symlink(At("gone"), At("b.choice"));
  EXPECT_THAT(ErrorOf("b.choice"), HasSubstr("as a link: No such file or directory"));
}

TEST_F(PreloadTest, ALinkToItselfIsSaid) {
  fs::create_symlink(At("a.choice"), At("a.choice"));
  EXPECT_THAT(ErrorOf("a.choice"), HasSubstr("as a link: Too many levels of symbolic links"));
}

// To open one would wait for whoever writes to it.
TEST_F(PreloadTest, APipeIsNoFile) {
  ASSERT_EQ(mkfifo(At("a.choice").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf("a.choice"), HasSubstr("is no file"));
}

TEST_F(PreloadTest, AFileThatCannotBeReadIsSaidWithTheReason) {
  Write("a.choice", std::string((16 << 20) + 1, ' '));
  EXPECT_THAT(ErrorOf("a.choice"), HasSubstr("has more than 16777216 bytes"));
  if (geteuid() == 0) return;  // who may read everything
  Write("a.choice", R"(["yes"])");
  fs::permissions(At("a.choice"), fs::perms::none);
  EXPECT_THAT(ErrorOf("a.choice"), HasSubstr("Permission denied"));
}

TEST_F(PreloadTest, AFileThatIsNoGrammarIsSaid) {
  Write("README", "of these");
  EXPECT_THAT(ErrorOf("README"), HasSubstr("does not end with .KIND"));
  fs::remove(At("README"));
  Write("a.choice", "[");
  EXPECT_NE(ErrorOf("a.choice"), "");
  fs::remove(At("a.choice"));
  Write("a.nonsense", "[]");
  EXPECT_THAT(ErrorOf("a.nonsense"), HasSubstr("nonsense"));
}

class FileStampTest : public testing::Test {
 protected:
  [[nodiscard]] std::string At(const std::string& name) const { return folder_.Path(name); }
  void Write(const std::string& name, const std::string& text) const { folder_.Write(name, text); }

  const TestFolder folder_;
};

TEST_F(FileStampTest, WhatIsNotThereIsAllZero) {
  EXPECT_EQ(FileStamp::Of(""), FileStamp());
  EXPECT_EQ(FileStamp::Of(At("none")), FileStamp());
  fs::create_symlink(At("none"), At("link"));
  EXPECT_EQ(FileStamp::Of(At("link")), FileStamp());
}

TEST_F(FileStampTest, ARewrittenFileIsAnother) {
  Write("tokens", "one");
  const FileStamp one = FileStamp::Of(At("tokens"));
  EXPECT_NE(one, FileStamp());
  EXPECT_EQ(one, FileStamp::Of(At("tokens")));
  Write("tokens", "longer");
  const FileStamp longer = FileStamp::Of(At("tokens"));
  EXPECT_NE(one, longer);
  // Of the same size and the same time: another file.
  Write("new", "longes");
  fs::last_write_time(At("new"), fs::last_write_time(At("tokens")));
  fs::rename(At("new"), At("tokens"));
  EXPECT_NE(longer, FileStamp::Of(At("tokens")));
}

// A link that is changed is a change, as Kubernetes rotates secrets.
TEST_F(FileStampTest, LinksAreFollowed) {
  Write("a", "1");
  Write("b", "1");
  fs::create_symlink(At("a"), At("link"));
  EXPECT_EQ(FileStamp::Of(At("link")), FileStamp::Of(At("a")));
  fs::create_symlink(At("b"), At("next"));
  fs::rename(At("next"), At("link"));
  EXPECT_EQ(FileStamp::Of(At("link")), FileStamp::Of(At("b")));
  EXPECT_NE(FileStamp::Of(At("link")), FileStamp::Of(At("a")));
}

}  // namespace
}  // namespace maskd::service
