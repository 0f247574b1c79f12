// A socket that listens at one address of --listen; several where a host's name stands for several
// addresses.
//
// Threads  a plain value.
#ifndef MASKD_SERVICE_PORTS_LISTEN_SOCKET_H_
#define MASKD_SERVICE_PORTS_LISTEN_SOCKET_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "ring/socket_file.h"
#include "ring/unique_fd.h"

namespace maskd::service {

// A socket that listens at an address, and what is to be undone when it closes.
class ListenSocket {
 public:
  // `address` is "unix:/path", whose file has `rights`, or "host:port", where port 0 takes a free
  // one. Errors: UNAVAILABLE with the system's reason.
  static absl::StatusOr<ListenSocket> Open(const std::string& address,
                                           const ring::SocketRights& rights);

  // They do not block.
  [[nodiscard]] const std::vector<ring::UniqueFd>& fds() const { return fds_; }
  // The port taken; 1 for a Unix socket.
  [[nodiscard]] int port() const { return port_; }

 private:
  ListenSocket() = default;
  absl::Status OpenFile(const std::string& path, const ring::SocketRights& rights);
  absl::Status OpenHost(const std::string& host, const std::string& port);

  std::vector<ring::UniqueFd> fds_;
  int port_ = 1;
  std::optional<ring::SocketFile> file_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PORTS_LISTEN_SOCKET_H_
