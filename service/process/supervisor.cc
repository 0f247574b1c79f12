#include "service/process/supervisor.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include <sys/socket.h>
#include <sys/un.h>

namespace maskd::service {
namespace {

ring::UniqueFd OpenSocket(bool wanted) {
  return wanted ? ring::UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
                : ring::UniqueFd();
}

}  // namespace

Supervisor::Supervisor(std::optional<std::string> socket)
    : socket_(std::move(socket).value_or("")), fd_(OpenSocket(!socket_.empty())) {}

// With the time, by which a newer systemd tells this message from an older one.
void Supervisor::Reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
  Tell(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", us));
}

void Supervisor::Tell(absl::string_view message) const {
  sockaddr_un address{};
  if (!fd_.is_open() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  sendto(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace maskd::service
