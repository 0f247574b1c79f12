#include "playground/http_server.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/socket.h>

#include "ring/unique_fd.h"
#include "tools/attack/targets/socket_address.h"

namespace maskd::playground {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kGet[] = "GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr char kGetSlow[] = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";

// Answers with the request's body; "/slow" when it is told to, "/large" with 32 MiB.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpServer::Options options) {
    auto server = HttpServer::Start("127.0.0.1:0", std::move(options), [this](const auto& request) {
      if (request.path == "/slow") {
        if (!slow_runs_.HasBeenNotified()) slow_runs_.Notify();
        slow_may_end_.WaitForNotification();
      }
      return HttpResponse{.body =
                              request.path == "/large" ? std::string(32 << 20, 'x') : request.body};
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  [[nodiscard]] ring::UniqueFd Connect(const std::string& bytes) const {
    auto fd = attack::ConnectSocket(absl::StrCat("127.0.0.1:", server_->port()));
    EXPECT_TRUE(fd.ok()) << fd.status();
    if (!fd.ok()) return ring::UniqueFd();
    Send(*fd, bytes);
    return *std::move(fd);
  }
  static void Send(const ring::UniqueFd& fd, const std::string& bytes) {
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
  }
  static std::string Read(const ring::UniqueFd& fd) {
    std::string answer;
    std::array<char, 4096> part;
    for (ssize_t count; (count = recv(fd.get(), part.data(), part.size(), 0)) > 0;)
      answer.append(part.data(), static_cast<std::size_t>(count));
    return answer;
  }

  absl::Notification slow_runs_;
  absl::Notification slow_may_end_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ARequestMayComeInPieces) {
  Start({});
  const ring::UniqueFd fd = Connect("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Ty");
  Send(fd, "pe: application/json\r\nContent-Length: 6\r\n\r\nab");
  Send(fd, "cdef and what is beyond the length");
  EXPECT_THAT(Read(fd), EndsWith("\r\n\r\nabcdef"));
}

TEST_F(HttpServerTest, WhoWaitsForItsAnswerHoldsUpNobody) {
  Start({.threads = 2});
  const ring::UniqueFd slow = Connect(kGetSlow);
  const ring::UniqueFd deaf = Connect("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Read(Connect(kGet)), StartsWith("HTTP/1.1 200"));
  slow_may_end_.Notify();
  EXPECT_THAT(Read(slow), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, MoreThanThereAreThreadsWaitForTheirTurn) {
  Start({.threads = 1});
  const ring::UniqueFd slow = Connect(kGetSlow);
  slow_runs_.WaitForNotification();
  std::vector<ring::UniqueFd> others;
  for (int i = 0; i < 10; ++i) others.push_back(Connect(kGet));
  slow_may_end_.Notify();
  for (const ring::UniqueFd& other : others) EXPECT_THAT(Read(other), StartsWith("HTTP/1.1 200"));
}

// Connections whose handlers run are none of those that give way.
TEST_F(HttpServerTest, OfTooManyConnectionsTheOldestThatIsSilentGoes) {
  Start({.threads = 1, .most_connections = 3});
  const ring::UniqueFd slow = Connect(kGetSlow);
  slow_runs_.WaitForNotification();
  std::vector<ring::UniqueFd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(Connect(""));
  EXPECT_EQ(Read(silent.front()), "");
  slow_may_end_.Notify();
  EXPECT_THAT(Read(slow), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, StopWaitsForNoHandlerAndNoPeer) {
  Start({});
  const ring::UniqueFd slow = Connect(kGetSlow);
  const ring::UniqueFd silent = Connect("GET");
  slow_runs_.WaitForNotification();
  server_->Stop();
  EXPECT_EQ(Read(slow), "");
  EXPECT_EQ(Read(silent), "");
  slow_may_end_.Notify();
  server_.reset();  // waits for the handler
}

TEST_F(HttpServerTest, ATakenAddressIsSaid) {
  Start({});
  const std::string address = absl::StrCat("127.0.0.1:", server_->port());
  const auto second =
      HttpServer::Start(address, {}, [](const HttpRequest&) { return HttpResponse(); });
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr(address));
}

}  // namespace
}  // namespace maskd::playground
