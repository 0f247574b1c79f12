// A name may stand for several addresses, of IPv4 and IPv6. All that this machine has are listened
// at, with one port for all: where the system chose it for the first, the others ask for the same
// one.
#include "service/ports/listen_socket.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "service/config/addresses.h"

namespace maskd::service {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

absl::Status Failed(absl::string_view why) { return absl::UnavailableError(std::string(why)); }

absl::Status FailedBySystem() { return Failed(std::strerror(errno)); }

struct Freer {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

void TurnOn(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof(on));
}

void SetPort(int port, sockaddr* address) {
  const in_port_t wire = htons(static_cast<std::uint16_t>(port));
  if (address->sa_family == AF_INET6)
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = wire;
  else
    reinterpret_cast<sockaddr_in*>(address)->sin_port = wire;
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// SO_REUSEADDR lets a restarted server take its port at once. TCP_NODELAY: a reply is small and is
// waited for.
// Accepted connections have the options of the socket that listens. "[::]" takes IPv4 as well.
absl::StatusOr<ring::UniqueFd> ListenAt(const addrinfo& at) {
  ring::UniqueFd fd(socket(at.ai_family, kSocketFlags, 0));
  if (!fd.is_open()) return FailedBySystem();
  TurnOn(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  TurnOn(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  if (bind(fd.get(), at.ai_addr, at.ai_addrlen) != 0 || listen(fd.get(), SOMAXCONN) != 0)
    return FailedBySystem();
  return fd;
}

}  // namespace

absl::StatusOr<ListenSocket> ListenSocket::Open(const std::string& address,
                                                const ring::SocketRights& rights) {
  ListenSocket made;
  absl::Status opened;
  if (const auto path = SocketPathOf(address); path.has_value()) {
    opened = made.OpenFile(std::string(*path), rights);
  } else {
    const std::size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]"))
      host = host.substr(1, host.size() - 2);
    opened = made.OpenHost(host, address.substr(colon + 1));
  }
  if (!opened.ok()) return opened;
  return made;
}

// Bound first, then listening: nobody connects before the file has its rights.
absl::Status ListenSocket::OpenFile(const std::string& path, const ring::SocketRights& rights) {
  ring::UniqueFd fd(socket(AF_UNIX, kSocketFlags, 0));
  if (!fd.is_open()) return FailedBySystem();
  absl::StatusOr<ring::SocketFile> file = ring::SocketFile::Bind(fd.get(), path, rights);
  if (!file.ok()) return file.status();
  file_.emplace(*std::move(file));
  if (listen(fd.get(), SOMAXCONN) != 0) return FailedBySystem();
  fds_.push_back(std::move(fd));
  return absl::OkStatus();
}

// A name may stand for addresses of a kind that this machine does not have.
absl::Status ListenSocket::OpenHost(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &first); code != 0)
    return Failed(gai_strerror(code));
  const std::unique_ptr<addrinfo, Freer> all(first);
  absl::Status failed = Failed("no such host");
  for (addrinfo* at = first; at != nullptr; at = at->ai_next) {
    // The port that the first one got, where the system chose.
    if (!fds_.empty()) SetPort(port_, at->ai_addr);
    absl::StatusOr<ring::UniqueFd> fd = ListenAt(*at);
    if (fd.ok()) {
      port_ = PortOf(fd->get());
      fds_.push_back(*std::move(fd));
    } else if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) {
      return fd.status();
    } else {
      failed = fd.status();
    }
  }
  return fds_.empty() ? failed : absl::OkStatus();
}

}  // namespace maskd::service
