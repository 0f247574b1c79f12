#include "client/apply/opencl/program_cache.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include <sys/stat.h>

#include "tests/base/test_folder.h"

namespace maskd::client {
namespace {

namespace fs = std::filesystem;

class ProgramCacheTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path OnlyFile() const { return fs::directory_iterator(directory_)->path(); }

  TestFolder folder_;
  std::string directory_ = folder_.Path("programs");
};

using Binary = std::optional<std::string>;

TEST_F(ProgramCacheTest, FindsWhatWasKeptAlsoLater) {
  const std::string binary("\x00\x01 a program\n", 13);
  EXPECT_EQ(ProgramCache(directory_).Find("key"), Binary());
  EXPECT_TRUE(ProgramCache(directory_).Keep("key", binary));
  EXPECT_EQ(ProgramCache(directory_).Find("key"), binary);
  EXPECT_EQ(ProgramCache(directory_).Find("other key"), Binary());
}

TEST_F(ProgramCacheTest, TheLastOneKeptIsFound) {
  const ProgramCache cache(directory_);
  EXPECT_TRUE(cache.Keep("key", "first"));
  EXPECT_TRUE(cache.Keep("key", "second"));
  EXPECT_EQ(cache.Find("key"), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

TEST_F(ProgramCacheTest, WithoutADirectoryNothingIsKept) {
  EXPECT_FALSE(ProgramCache("").Keep("key", "binary"));
  EXPECT_EQ(ProgramCache("").Find("key"), Binary());
}

TEST_F(ProgramCacheTest, ADirectoryThatCannotBeMadeIsNoError) {
  EXPECT_FALSE(ProgramCache("/proc/none").Keep("key", "binary"));
  EXPECT_EQ(ProgramCache("/proc/none").Find("key"), Binary());
}

TEST_F(ProgramCacheTest, DamageIsSeenAtEveryByte) {
  const ProgramCache cache(directory_);
  ASSERT_TRUE(cache.Keep("key", "binary"));
  const auto size = static_cast<std::streamoff>(fs::file_size(OnlyFile()));
  for (std::streamoff at = 0; at < size; ++at) {
    ASSERT_TRUE(cache.Keep("key", "binary"));
    std::fstream file(OnlyFile(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at).put('#').flush();
    EXPECT_EQ(cache.Find("key"), Binary()) << at;
  }
}

TEST_F(ProgramCacheTest, AFileCutShortIsNotFound) {
  const ProgramCache cache(directory_);
  ASSERT_TRUE(cache.Keep("key", "binary"));
  for (auto size = fs::file_size(OnlyFile()); size > 0;) {
    fs::resize_file(OnlyFile(), --size);
    EXPECT_EQ(cache.Find("key"), Binary()) << size;
  }
}

TEST_F(ProgramCacheTest, WhatOthersMayWriteIsNotLoaded) {
  const ProgramCache cache(directory_);
  ASSERT_TRUE(cache.Keep("key", "binary"));
  ASSERT_EQ(chmod(OnlyFile().c_str(), 0666), 0);
  EXPECT_EQ(cache.Find("key"), Binary());
}

}  // namespace
}  // namespace maskd::client
