// Which addresses are Unix sockets. For this library's own files.
#ifndef MASKD_CLIENT_CPP_CONNECT_SOCKET_PATH_H_
#define MASKD_CLIENT_CPP_CONNECT_SOCKET_PATH_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd::client {

// The path of an address "unix:...", as gRPC reads it; nothing for another address.
std::optional<std::string> SocketPathOf(absl::string_view address);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CONNECT_SOCKET_PATH_H_
