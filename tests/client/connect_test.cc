// What Client::Connect() says, and waits for, where no server is. An error without "within" is the
// system's own word: no time has ended the wait.
#include <filesystem>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/cpp/client.h"
#include "client/cpp/connect/refusal.h"
#include "ring/unique_fd.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

constexpr char kNowhere[] = "unix:/nonexistent/maskd.sock";

absl::Status ConnectTo(const std::string& address) {
  return Client::Connect({.address = address}).status();
}

// A port that nobody else takes, and that nobody listens at.
class RefusingPort {
 public:
  RefusingPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_.get(), plain, size), 0);
    EXPECT_EQ(getsockname(socket_.get(), plain, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  ring::UniqueFd socket_;
  int port_ = 0;
};

// The socket that a server which was killed has left.
class AbandonedSocket {
 public:
  AbandonedSocket()
      : path_(std::filesystem::temp_directory_path() / absl::StrCat("maskd_gone.", getpid())) {
    std::filesystem::remove(path_);
    const ring::UniqueFd once(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(once.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~AbandonedSocket() { std::filesystem::remove(path_); }
  AbandonedSocket(const AbandonedSocket&) = delete;
  AbandonedSocket& operator=(const AbandonedSocket&) = delete;

  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", path_.string()); }

 private:
  std::filesystem::path path_;
};

TEST(ConnectTest, WhereNobodyListensThatIsSaidAtOnce) {
  const RefusingPort port;
  const AbandonedSocket abandoned;
  for (const std::string& address : {port.address(), abandoned.address(), std::string(kNowhere),
                                     std::string("unix:/dev/null/maskd.sock")}) {
    const absl::Status nobody = ConnectTo(address);
    EXPECT_TRUE(absl::IsUnavailable(nobody)) << nobody;
    const std::string said(nobody.message());
    EXPECT_THAT(said, StartsWith(absl::StrCat("no server at ", address, ": ")));
    EXPECT_THAT(said, MatchesRegex(".*(Connection refused|No such file or directory|"
                                   "Not a directory)"));
  }
}

TEST(ConnectTest, WhereNoneOfSeveralListensTheReasonOfEachIsSaidAtOnce) {
  const RefusingPort port;
  const absl::Status nobody =
      Client::Connect({.address = port.address(), .more_addresses = {kNowhere}}).status();
  EXPECT_TRUE(absl::IsUnavailable(nobody)) << nobody;
  EXPECT_THAT(std::string(nobody.message()),
              MatchesRegex(absl::StrCat("no server at ", port.address(), ", ", kNowhere,
                                        ": .*Connection refused; .*No such file or directory")));
}

TEST(ConnectTest, AnAddressThatRefusesDoesNotHideTheNext) {
  const ScriptedServer server({});
  const absl::Status there =
      Client::Connect({.address = kNowhere, .more_addresses = {server.address()}}).status();
  EXPECT_TRUE(there.ok()) << there;
}

TEST(ConnectTest, WithATimeAServerThatIsYetToComeIsWaitedFor) {
  const std::string address = ScriptedServer({}, "later").address();  // no server any more
  absl::Status status = absl::UnknownError("not connected");
  std::thread connecting([&] {
    status = Client::Connect({.address = address, .connect_timeout = absl::Minutes(1)}).status();
  });
  absl::SleepFor(absl::Milliseconds(50));  // likely refused meanwhile; right either way
  const ScriptedServer server({}, "later");
  connecting.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ConnectTest, WithATimeTheReasonFollowsIt) {
  const absl::Status nobody =
      Client::Connect({.address = kNowhere, .connect_timeout = absl::Milliseconds(20)}).status();
  EXPECT_THAT(
      std::string(nobody.message()),
      MatchesRegex(absl::StrCat("no server at ", kNowhere, " within 20ms: .*No such file.*")));
}

TEST(ConnectTest, RefusalsAreToldFromWhatMayPass) {
  for (const char* refusal :
       {"UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused",
        "UNKNOWN: unix:/run/maskd.sock: Permission denied",
        "UNKNOWN: ipv4:10.0.0.7:7411: Failed to connect to remote host: No route to host",
        "DNS resolution failed for maskd:7411: C-ares status is not ARES_SUCCESS qtype=AAAA "
        "name=maskd is_balancer=0: Domain name not found",
        "UNAVAILABLE: ipv4:127.0.0.1:9411: Failed parsing HTTP/2",
        "INTERNAL: ipv4:127.0.0.1:9411: Trying to connect an http1.x server",
        "UNKNOWN: ipv4:127.0.0.1:7411: Tls handshake failed: certificate verify failed"}) {
    EXPECT_TRUE(IsRefusal(refusal)) << refusal;
  }
  for (const char* passing :
       {"", "Socket closed", "UNKNOWN: unix:/run/maskd.sock: Resource temporarily unavailable",
        "UNKNOWN: ipv4:127.0.0.1:7411: Connection reset by peer", "Deadline Exceeded"}) {
    EXPECT_FALSE(IsRefusal(passing)) << passing;
  }
}

}  // namespace
}  // namespace maskd::client
