#include "client/cpp/connect/refusal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "absl/strings/match.h"

namespace maskd::client {

bool IsRefusal(absl::string_view trouble) {
  constexpr std::array kNumbers = {ECONNREFUSED, ENOENT,      ENOTDIR,      EACCES,
                                   EPERM,        ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL};
  // gRPC's own, for a name that nobody has, a port of another protocol and one of other security.
  constexpr std::array kWords = {"DNS resolution failed", "Failed parsing HTTP/2", "http1.x server",
                                 "handshake failed", "Hostname Verification Check failed"};
  const auto says = [trouble](absl::string_view words) {
    return absl::StrContains(trouble, words);
  };
  // In the words of the process's language, as gRPC has them.
  const auto says_error = [&](int number) { return says(std::system_category().message(number)); };
  return std::ranges::any_of(kNumbers, says_error) || std::ranges::any_of(kWords, says);
}

}  // namespace maskd::client
