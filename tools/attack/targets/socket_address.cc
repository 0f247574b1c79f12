#include "tools/attack/targets/socket_address.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace maskd::attack {
namespace {

absl::Status CannotConnect(const std::string& address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(address, ": cannot connect: ", why));
}

absl::StatusOr<ring::UniqueFd> ConnectTo(const std::string& address, const sockaddr* to,
                                         socklen_t size) {
  ring::UniqueFd fd(socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open() || connect(fd.get(), to, size) != 0)
    return CannotConnect(address, std::strerror(errno));
  return fd;
}

}  // namespace

std::string SocketPath(const std::string& address) {
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:")) return "";
  absl::ConsumePrefix(&path, "//");
  return std::string(path);
}

absl::StatusOr<ring::UniqueFd> ConnectSocket(const std::string& address) {
  if (const std::string path = SocketPath(address); !path.empty()) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (path.size() >= sizeof(to.sun_path)) return CannotConnect(address, "the path is too long");
    std::memcpy(to.sun_path, path.data(), path.size());
    return ConnectTo(address, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
  }
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return CannotConnect(address, "neither unix:/path nor host:port");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string host = address.substr(0, colon);
  const int error = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found);
  if (error != 0) return CannotConnect(address, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  return ConnectTo(address, found->ai_addr, found->ai_addrlen);
}

}  // namespace maskd::attack
