// The addresses that a server listens at, as its flags say them, and who may connect there.
//
// Kinds    a Unix socket is guarded by its file's rights; a TCP address of --listen by TLS; one of
//          --insecure_listen by nothing. Those of --admin_listen and --insecure_admin_listen alike.
// Threads  no state.
#ifndef MASKD_SERVICE_CONFIG_ADDRESSES_H_
#define MASKD_SERVICE_CONFIG_ADDRESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::service {

struct Config;

// What keeps strangers from an address: rights of a file, TLS, or nothing.
enum class Guard : std::uint8_t { kFile, kTls, kNothing };

// One address to listen at, taken apart.
struct ListenAddress {
  std::string text;
  Guard guard = Guard::kFile;
  const char* flag = "";  // that named it, "--listen"
};

// Who is served there: whoever wants masks, or whoever runs the server.
enum class Audience : std::uint8_t { kEngines, kAdmins };

// Those of --listen, then those of --insecure_listen; or of the two flags for admins.
std::vector<ListenAddress> AddressesOf(const Config& config,
                                       Audience audience = Audience::kEngines);

// Whether each has what guards it. Errors: INVALID_ARGUMENT; the message starts with the flag.
absl::Status CheckAddresses(const Config& config);

// Addresses separated by commas. Errors: INVALID_ARGUMENT, without the flag.
absl::StatusOr<std::vector<std::string>> ParseAddresses(absl::string_view value);

// Errors: INVALID_ARGUMENT.
absl::Status CheckHostPort(absl::string_view address);

// Whether `address`, host:port, can only be reached from this machine.
bool IsLoopback(absl::string_view address);

// Whether the server has a playground.
bool HasPlayground(const Config& config);

// An octal number up to 0777. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::int64_t> ParseSocketMode(absl::string_view value);

// The id of a group of this machine, by name or id. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::int64_t> ParseGroup(absl::string_view value);

// The ids of users of this machine, by names or ids, separated by commas. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::vector<std::int64_t>> ParseUsers(absl::string_view value);

// The path of "unix:/absolute/path"; nothing for an address of another kind.
std::optional<absl::string_view> SocketPathOf(absl::string_view address);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_ADDRESSES_H_
