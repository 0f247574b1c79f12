#include "client/cpp/connect/socket_path.h"

#include "absl/strings/strip.h"

namespace maskd::client {

std::optional<std::string> SocketPathOf(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return std::nullopt;
  absl::ConsumePrefix(&address, "//");
  return std::string(address);
}

}  // namespace maskd::client
