// What stands in for systemd: a datagram socket with a name in the abstract namespace, to which a
// server writes where NOTIFY_SOCKET has the name.
#ifndef MASKD_TESTS_SERVICE_PROCESS_NOTIFY_LISTENER_H_
#define MASKD_TESTS_SERVICE_PROCESS_NOTIFY_LISTENER_H_

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ring/unique_fd.h"

namespace maskd::service {

class NotifyListener {
 public:
  NotifyListener() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
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
  // The same, waited for.
  [[nodiscard]] std::string Await() const {
    constexpr int kPatienceMs = 60'000;
    pollfd wanted = {fd_.get(), POLLIN, 0};
    EXPECT_EQ(poll(&wanted, 1, kPatienceMs), 1);
    return Next();
  }

 private:
  const std::string name_ = absl::StrCat("@maskd-supervisor-test-", getpid());
  const ring::UniqueFd fd_;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_PROCESS_NOTIFY_LISTENER_H_
