#include "metrics/exposer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace maskd::metrics {
namespace {

// The whole answer to a GET, head and body.
std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  close(fd);
  return answer;
}

TEST(ExposerTest, ServesMetricsOverHttp) {
  Metrics metrics("1.2.3");
  metrics.StepDone(1e-3);
  const auto exposer = Exposer::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(exposer.ok()) << exposer.status();
  const std::string answer = Get((*exposer)->port(), "/metrics");
  EXPECT_NE(answer.find("200 OK"), std::string::npos) << answer;
  EXPECT_NE(answer.find("maskd_step_seconds_count 1\n"), std::string::npos) << answer;
  EXPECT_NE(Get((*exposer)->port(), "/other").find("404"), std::string::npos);
}

TEST(ExposerTest, ATakenPortIsAnErrorWithTheAddress) {
  const Metrics metrics("1");
  const auto first = Exposer::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(first.ok());
  const std::string address = absl::StrCat("127.0.0.1:", (*first)->port());
  const auto second = Exposer::Start(address, metrics);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_NE(second.status().message().find(address), std::string::npos);
}

}  // namespace
}  // namespace maskd::metrics
