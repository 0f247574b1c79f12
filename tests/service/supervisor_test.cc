#include "service/process/supervisor.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace maskd::service {
namespace {

// What stands in for systemd: a datagram socket with a name in the abstract namespace.
class Listener {
 public:
  Listener() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())),
              0);
  }

  [[nodiscard]] const std::string& name() const { return name_; }

  // The next message; empty without one.
  [[nodiscard]] std::string Next() const {
    char buffer[256];
    const ssize_t count = recv(fd_.get(), buffer, sizeof(buffer), 0);
    return {buffer, static_cast<std::size_t>(count < 0 ? 0 : count)};
  }

 private:
  const std::string name_ = absl::StrCat("@maskd-supervisor-test-", getpid());
  const ring::UniqueFd fd_;
};

TEST(SupervisorTest, IsToldEachMessageInADatagramOfItsOwn) {
  const Listener listener;
  const Supervisor supervisor(listener.name());
  supervisor.Ready();
  supervisor.Reloading();
  supervisor.Alive();
  supervisor.Stopping();
  EXPECT_EQ(listener.Next(), "READY=1");
  EXPECT_THAT(listener.Next(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  EXPECT_EQ(listener.Next(), "STOPPING=1");
  EXPECT_EQ(listener.Next(), "");
}

TEST(SupervisorTest, ThereNeedBeNone) {
  Supervisor(std::nullopt).Ready();
  Supervisor("").Ready();
  Supervisor("/nonexistent/notify").Ready();
  Supervisor(std::string(200, 'x')).Ready();
}

}  // namespace
}  // namespace maskd::service
