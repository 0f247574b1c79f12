// Plain sockets to the addresses that a server listens on.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_SOCKET_ADDRESS_H_
#define MASKD_TOOLS_ATTACK_TARGETS_SOCKET_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

#include "ring/unique_fd.h"

namespace maskd::attack {

// The path of "unix:/path"; empty for another address.
std::string SocketPath(const std::string& address);

// A connected stream socket: "unix:/path" or host:port. Errors: UNAVAILABLE, with the reason.
absl::StatusOr<ring::UniqueFd> ConnectSocket(const std::string& address);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_SOCKET_ADDRESS_H_
