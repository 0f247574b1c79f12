#include "tools/attack/targets/metrics_page.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tools/attack/targets/socket_address.h"

namespace maskd::attack {

absl::StatusOr<MetricsPage> MetricsPage::Read(const std::string& address) {
  absl::StatusOr<ring::UniqueFd> fd = ConnectSocket(address);
  if (!fd.ok()) return fd.status();
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const std::string request =
      absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", address, "\r\nConnection: close\r\n\r\n");
  if (send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return absl::UnavailableError(absl::StrCat(address, ": closed"));
  std::string answer;
  std::array<char, 1 << 16> part{};
  for (ssize_t count = 0; (count = recv(fd->get(), part.data(), part.size(), 0)) > 0;)
    answer.append(part.data(), static_cast<std::size_t>(count));
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos || !absl::StrContains(answer.substr(0, body), " 200 "))
    return absl::UnavailableError(absl::StrCat(address, ": no page of metrics"));
  return MetricsPage(answer.substr(body + 4));
}

double MetricsPage::Sum(absl::string_view metric, absl::string_view label) const {
  double sum = 0;
  for (absl::string_view line : absl::StrSplit(text_, '\n')) {
    if (!absl::ConsumePrefix(&line, metric)) continue;
    const std::size_t space = line.rfind(' ');
    const bool named = !line.empty() && (line.front() == ' ' || line.front() == '{');
    if (!named || space == absl::string_view::npos) continue;
    if (!absl::StrContains(line.substr(0, space), label)) continue;
    double value = 0;
    if (absl::SimpleAtod(line.substr(space + 1), &value)) sum += value;
  }
  return sum;
}

}  // namespace maskd::attack
