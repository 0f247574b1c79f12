#include "service/ports/metrics_port.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace maskd::service {
namespace {

using ring::UniqueFd;
using testing::HasSubstr;
using testing::StartsWith;

class MetricsPortTest : public testing::Test {
 protected:
  void SetUp() override {
    metrics_.StepDone(1e-3);
    auto port = MetricsPort::Start("127.0.0.1:0", Pages());
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
  }

  MetricsPages Pages() {
    return {.metrics = &metrics_,
            .is_live = [this] { return is_live_.load(); },
            .is_ready = [this] { return is_ready_.load(); }};
  }

  [[nodiscard]] UniqueFd Connect() const {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  static void Send(const UniqueFd& fd, const std::string& text) {
    // Who is refused at once may be closed before all is sent.
    [[maybe_unused]] const ssize_t sent = send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }

  // All that comes until the end.
  static std::string Read(const UniqueFd& fd) {
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(n));
    return answer;
  }

  [[nodiscard]] std::string Ask(const std::string& request) const {
    const UniqueFd fd = Connect();
    Send(fd, request);
    return Read(fd);
  }

  metrics::Metrics metrics_{"1.2.3"};
  std::atomic<bool> is_live_ = true;
  std::atomic<bool> is_ready_ = true;
  std::unique_ptr<MetricsPort> port_;
};

TEST_F(MetricsPortTest, ServesMetricsOverHttp) {
  const std::string answer = Ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("maskd_step_seconds_count 1\n"));
  const std::string body = answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_THAT(answer, HasSubstr(absl::StrCat("Content-Length: ", body.size(), "\r\n")));
}

TEST_F(MetricsPortTest, SaysHowTheServerStands) {
  EXPECT_THAT(Ask("GET /livez HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask("GET /readyz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  is_ready_ = false;
  EXPECT_THAT(Ask("GET /readyz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask("GET /livez HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  is_live_ = false;
  EXPECT_THAT(Ask("GET /livez HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(MetricsPortTest, RefusesWhatIsNoScrape) {
  EXPECT_THAT(Ask("GET /other HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\n" + std::string(8192, 'x')),
              StartsWith("HTTP/1.1 431 "));
  const std::string head = Ask("HEAD /metrics?x=1 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
}

TEST_F(MetricsPortTest, ThoseThatDoNotFinishTheirRequestKeepNobodyOut) {
  std::vector<UniqueFd> unfinished;
  for (int i = 0; i < 200; ++i) {
    unfinished.push_back(Connect());
    Send(unfinished.back(), i % 2 == 0 ? "" : "GET /metrics HTTP/1.1\r\nHost:");
  }
  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
  Send(unfinished.back(), " x\r\n\r\n");
  EXPECT_THAT(Read(unfinished.back()), StartsWith("HTTP/1.1 200 OK")) << "it has its time";
  EXPECT_EQ(Read(unfinished.front()), "") << "the oldest are closed";
}

TEST_F(MetricsPortTest, ATakenPortIsAnErrorWithTheAddressAndTheReason) {
  const std::string address = absl::StrCat("127.0.0.1:", port_->port());
  const auto second = MetricsPort::Start(address, Pages());
  ASSERT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat(address, ": Address already in use")));
}

}  // namespace
}  // namespace maskd::service
