// Sockets in a folder of the test's own: what is taken away at their place, and what is left alone.
#include "ring/socket_file.h"

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/unique_fd.h"
#include "tests/base/test_folder.h"

namespace maskd::ring {
namespace {

using testing::HasSubstr;

UniqueFd NewSocket(int type = SOCK_STREAM) {
  return UniqueFd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
}

class SocketFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Path() const { return folder_.Path("socket"); }
  [[nodiscard]] bool IsThere() const { return access(Path().c_str(), F_OK) == 0; }
  [[nodiscard]] mode_t Mode() const {
    struct stat there{};
    return lstat(Path().c_str(), &there) == 0 ? there.st_mode & 0777 : 0;
  }
  [[nodiscard]] bool Connects(int type = SOCK_STREAM) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    Path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd probe = NewSocket(type);
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  // Nothing where that fails.
  [[nodiscard]] std::optional<SocketFile> Bound(const UniqueFd& socket,
                                                const SocketRights& rights = {}) const {
    auto file = SocketFile::Bind(socket.get(), Path(), rights);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? std::optional(*std::move(file)) : std::nullopt;
  }
  void ExpectLeftAlone(const UniqueFd& socket, const char* why) const {
    const auto file = SocketFile::Bind(socket.get(), Path(), {});
    EXPECT_EQ(file.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(why));
    EXPECT_TRUE(IsThere());
  }

 private:
  const TestFolder folder_;
};

TEST_F(SocketFileTest, HasItsRightsBeforeAnybodyListens) {
  const UniqueFd socket = NewSocket();
  const auto file = Bound(socket, {.mode = 0620, .group = getegid()});
  EXPECT_EQ(Mode(), 0620);
  EXPECT_FALSE(Connects());
  ASSERT_EQ(listen(socket.get(), 1), 0);
  EXPECT_TRUE(Connects());
}

TEST_F(SocketFileTest, GoesWithItsOwnerAndWithNobodyElse) {
  const UniqueFd socket = NewSocket();
  auto file = Bound(socket);
  std::optional<SocketFile> moved(std::move(*file));
  file.reset();
  EXPECT_TRUE(IsThere());
  moved.reset();
  EXPECT_FALSE(IsThere());
}

TEST_F(SocketFileTest, WhatCameInItsPlaceStays) {
  const UniqueFd socket = NewSocket();
  auto file = Bound(socket);
  // Made before the first goes, so that it is another inode.
  std::ofstream(Path() + ".new") << "x";
  ASSERT_EQ(rename((Path() + ".new").c_str(), Path().c_str()), 0);
  file.reset();
  EXPECT_TRUE(IsThere());
}

TEST_F(SocketFileTest, ASocketThatNobodyListensAtIsReplaced) {
  const std::string aside = Path() + ".aside";
  {
    const UniqueFd dead = NewSocket();
    const auto file = Bound(dead);
    // As if its process had been killed: the file outlives it.
    ASSERT_EQ(link(Path().c_str(), aside.c_str()), 0);
  }
  ASSERT_EQ(rename(aside.c_str(), Path().c_str()), 0);
  const UniqueFd socket = NewSocket();
  const auto file = Bound(socket);
  ASSERT_EQ(listen(socket.get(), 1), 0);
  EXPECT_TRUE(Connects());
}

TEST_F(SocketFileTest, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(Path()) << "mine";
  ExpectLeftAlone(NewSocket(), "no socket");
}

TEST_F(SocketFileTest, ASocketThatSomebodyListensAtIsLeftAlone) {
  const UniqueFd other = NewSocket();
  const auto file = Bound(other);
  ASSERT_EQ(listen(other.get(), 1), 0);
  ExpectLeftAlone(NewSocket(), "listens there");
  EXPECT_TRUE(Connects());
}

TEST_F(SocketFileTest, SoIsOneOfAnotherType) {
  const UniqueFd other = NewSocket(SOCK_SEQPACKET);
  const auto file = Bound(other);
  ASSERT_EQ(listen(other.get(), 1), 0);
  ExpectLeftAlone(NewSocket(SOCK_STREAM), "listens there");
  EXPECT_TRUE(Connects(SOCK_SEQPACKET));
}

// Whether somebody listens there cannot be told.
TEST_F(SocketFileTest, SoIsOneThatMayNotBeConnectedTo) {
  const UniqueFd other = NewSocket();
  const auto file = Bound(other, {.mode = 0, .group = std::nullopt});
  ASSERT_EQ(listen(other.get(), 1), 0);
  ASSERT_EQ(chmod(Path().substr(0, Path().rfind('/')).c_str(), 0777), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Root may do all.
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0) _exit(2);
    const UniqueFd socket = NewSocket();
    const auto bound = SocketFile::Bind(socket.get(), Path(), {});
    _exit(absl::IsUnavailable(bound.status()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(IsThere());
}

TEST_F(SocketFileTest, APathThatIsTooLongIsToldSo) {
  const UniqueFd socket = NewSocket();
  const auto file = SocketFile::Bind(socket.get(), "/" + std::string(200, 'x'), {});
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("too long"));
}

TEST(UserOfTest, IsTheOtherEnds) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const UniqueFd one(pair[0]);
  const UniqueFd other(pair[1]);
  EXPECT_EQ(UserOf(one.get()), geteuid());
  EXPECT_EQ(UserOf(-1), std::nullopt);
}

}  // namespace
}  // namespace maskd::ring
