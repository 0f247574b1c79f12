#include "service/ports/listen_socket.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/handover.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

class ListenSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = "/tmp/maskd-listen-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    path_ = folder + "/s";
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
  }

  [[nodiscard]] absl::StatusOr<ListenSocket> Open(const ring::SocketRights& rights = {}) const {
    return ListenSocket::Open("unix:" + path_, rights);
  }

  std::string path_;
};

TEST_F(ListenSocketTest, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  const auto opened = Open();
  ASSERT_TRUE(absl::IsUnavailable(opened.status())) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
  const auto handover =
      ring::HandoverPort::Listen(path_, [](absl::string_view) { return ring::UniqueFd(); });
  ASSERT_TRUE(absl::IsUnavailable(handover.status())) << handover.status();
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(ListenSocketTest, ASocketInUseIsNotTakenOverAndOneLeftBehindIs) {
  {
    const auto first = Open();
    ASSERT_TRUE(first.ok()) << first.status();
    const auto second = Open();
    ASSERT_TRUE(absl::IsUnavailable(second.status())) << second.status();
    EXPECT_THAT(std::string(second.status().message()), HasSubstr("another server"));
    std::filesystem::create_hard_link(path_, path_ + ".kept");
  }
  EXPECT_FALSE(std::filesystem::exists(path_)) << "removed with its owner";
  std::filesystem::rename(path_ + ".kept", path_);  // as after a kill -9
  EXPECT_TRUE(Open().ok());
}

TEST_F(ListenSocketTest, WhatIsNotItsOwnIsNotRemovedAtTheEnd) {
  auto first = Open();
  ASSERT_TRUE(first.ok()) << first.status();
  unlink(path_.c_str());
  std::ofstream(path_) << "precious";
  first = absl::UnavailableError("gone");
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(ListenSocketTest, TheFileHasTheRightsWhateverTheUmask) {
  const mode_t before = umask(0);
  for (const mode_t mode : {0700, 0770, 0666}) {
    const auto opened = Open({.mode = mode, .group = getgid()});
    ASSERT_TRUE(opened.ok()) << opened.status();
    struct stat file{};
    ASSERT_EQ(stat(path_.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777U, mode);
    EXPECT_EQ(file.st_gid, getgid());
  }
  umask(before);
}

TEST_F(ListenSocketTest, SaysWhyItCannot) {
  const auto nowhere = ListenSocket::Open("unix:/nonexistent/s", {});
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("No such file or directory"));
  const auto first = ListenSocket::Open("127.0.0.1:0", {});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = ListenSocket::Open(absl::StrCat("127.0.0.1:", first->port()), {});
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
  EXPECT_FALSE(ListenSocket::Open("no.such.host.invalid:1", {}).ok());
}

TEST_F(ListenSocketTest, ANameMayStandForSeveralAddressesWithOnePort) {
  const auto opened = ListenSocket::Open("localhost:0", {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_GE(opened->fds().size(), 1U);
  EXPECT_GT(opened->port(), 1);
  const auto every = ListenSocket::Open("[::]:0", {});
  EXPECT_TRUE(every.ok()) << every.status();
}

}  // namespace
}  // namespace maskd::service
