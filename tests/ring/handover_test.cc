#include "ring/handover.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ring/shared_memory.h"

namespace maskd::ring {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr RingSizes kSizes = {.to_server = 4096, .to_client = 4096};

class HandoverTest : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = SharedMemory::Create(kSizes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    offered_ = memory->TakeFd();
    memory->words().to_server.written = 77;
    made_.emplace(*std::move(memory));
    auto port = HandoverPort::Listen(path(), [this](absl::string_view token) {
      return token == token_ ? std::move(offered_) : UniqueFd();
    });
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
  }

  [[nodiscard]] static std::string path() {
    return (std::filesystem::temp_directory_path() / absl::StrCat("maskd_ring.", getpid(), ".sock"))
        .string();
  }
  [[nodiscard]] static absl::StatusOr<UniqueFd> Ask(absl::string_view token) {
    return Fetch(path(), token, kPatience);
  }
  // A connection that says nothing.
  static UniqueFd Connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  const std::string token_ = *MakeToken();
  UniqueFd offered_;
  std::optional<SharedMemory> made_;  // its end would take the pages back
  std::unique_ptr<HandoverPort> port_;
};

TEST_F(HandoverTest, WhoKnowsTheTokenIsHandedTheMemory) {
  auto fd = Ask(token_);
  ASSERT_TRUE(fd.ok()) << fd.status();
  const auto memory = SharedMemory::Map(*std::move(fd), kSizes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->words().to_server.written, 77U);
  EXPECT_TRUE(absl::IsUnavailable(Ask(token_).status())) << "once";
}

TEST_F(HandoverTest, OthersAreNot) {
  EXPECT_TRUE(absl::IsUnavailable(Ask(*MakeToken()).status()));
  EXPECT_TRUE(absl::IsUnavailable(Ask(token_.substr(1)).status()));
  EXPECT_TRUE(absl::IsUnavailable(Ask(token_ + "x").status()));
  EXPECT_TRUE(absl::IsUnavailable(Ask(std::string(100'000, 'x')).status()));
  EXPECT_TRUE(Ask(token_).ok()) << "and the token is still good";
}

TEST_F(HandoverTest, AUserWhoMayNotAskIsHandedNothing) {
  port_.reset();
  std::vector<uid_t> asked;
  auto port = HandoverPort::Listen(
      path(), [this](absl::string_view) { return std::move(offered_); }, {},
      [&asked](uid_t user) {
        asked.push_back(user);
        return asked.size() > 1;
      });
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_TRUE(absl::IsUnavailable(Ask(token_).status()));
  EXPECT_TRUE(Ask(token_).ok());
  port->reset();
  EXPECT_EQ(asked, std::vector<uid_t>(2, getuid()));
}

TEST_F(HandoverTest, WhoSaysNothingHoldsNobodyUp) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(Connect());
  EXPECT_TRUE(Ask(token_).ok());
}

TEST_F(HandoverTest, WhoLeavesAtOnceDoesNoHarm) {
  for (int i = 0; i < 100; ++i) {
    const UniqueFd peer = Connect();
    if (i % 2 == 0) EXPECT_EQ(send(peer.get(), token_.data(), 5, MSG_NOSIGNAL), 5);
  }
  EXPECT_TRUE(Ask(token_).ok());
}

// What a server sends beside the one descriptor is closed.
TEST(FetchTest, TwoDescriptorsAreAnErrorAndNoneStaysOpen) {
  const std::string path = testing::TempDir() + absl::StrCat("two.", getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  const UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const int before = dup(listener.get());
  close(before);
  std::thread server([&listener] {
    const UniqueFd peer(accept(listener.get(), nullptr, nullptr));
    std::array<char, 16> token = {};  // closed with it unread, the connection would be reset
    EXPECT_GT(recv(peer.get(), token.data(), token.size(), 0), 0);
    char byte = 0;
    iovec piece = {&byte, 1};
    const std::array<int, 2> fds = {listener.get(), listener.get()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(fds))> control = {};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(fds));
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(fds));
    EXPECT_EQ(sendmsg(peer.get(), &message, 0), 1);
  });
  const absl::Status status = Fetch(path, "token", kPatience).status();
  server.join();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  const int after = dup(listener.get());
  close(after);
  EXPECT_EQ(after, before) << "the least number that is free is the same";
  unlink(path.c_str());
}

TEST_F(HandoverTest, TheFileGoesWithThePort) {
  EXPECT_TRUE(std::filesystem::exists(path()));
  port_.reset();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_TRUE(absl::IsUnavailable(Ask(token_).status()));
}

TEST_F(HandoverTest, APathThatCannotBeIsAnError) {
  const auto listen = [](const std::string& path) {
    return HandoverPort::Listen(path, [](absl::string_view) { return UniqueFd(); }).status();
  };
  EXPECT_TRUE(absl::IsUnavailable(listen("/nonexistent/x.ring")));
  EXPECT_TRUE(absl::IsUnavailable(listen("/" + std::string(200, 'x'))));
  EXPECT_TRUE(absl::IsUnavailable(Fetch("/" + std::string(200, 'x'), token_, kPatience).status()));
}

TEST(TokenTest, IsAnotherOneEachTime) {
  EXPECT_EQ(MakeToken()->size(), kTokenBytes);
  EXPECT_NE(*MakeToken(), *MakeToken());
}

}  // namespace
}  // namespace maskd::ring
