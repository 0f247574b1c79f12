// An address is checked when the flag is read (its form) and when all flags are read (its guard):
// TCP in plain text is only listened at where the flag's own name says that it is insecure.
//
// Invariant  what AddressesOf() gives after CheckAddresses() has a guard, or the operator has asked
//            for none by name.
// Threads    main's alone, while flags are read; names of users and groups are looked up by
//            functions of the C library that keep their answer in static memory.
// May block  getgrnam() and getpwnam(), where the machine asks a server for its users.
#include "service/config/addresses.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <arpa/inet.h>
#include <grp.h>
#include <pwd.h>

#include "service/config/config.h"

namespace maskd::service {
namespace {

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// The form of one address. A path must be absolute: where a server is started from is no part of
// its configuration.
absl::Status CheckAddress(absl::string_view address) {
  const std::optional<absl::string_view> path = SocketPathOf(address);
  if (!path.has_value()) return CheckHostPort(address);
  // sun_path of Linux: 108 bytes with the final 0.
  constexpr std::size_t kMaxSocketPath = 107;
  if (!absl::StartsWith(*path, "/") || path->size() > kMaxSocketPath) {
    return Wrong(absl::StrCat("\"", address, "\" is not unix: and an absolute path of at most ",
                              kMaxSocketPath, " bytes"));
  }
  return absl::OkStatus();
}

bool HasTls(const Config& config) { return !config.tls_cert.empty(); }

// Half of a pair is a mistake in a deployment, and so is a certificate that no address shows. It is
// said here, where the flag can be named.
absl::Status CheckTlsFlags(const Config& config) {
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return Wrong(absl::StrCat(config.tls_cert.empty() ? "--tls_key" : "--tls_cert",
                              ": a certificate and its key are given together"));
  }
  if (!HasTls(config) && !config.tls_client_ca.empty())
    return Wrong("--tls_client_ca: needs --tls_cert and --tls_key");
  const auto uses_tls = [&](Audience audience) {
    return std::ranges::any_of(AddressesOf(config, audience), [](const ListenAddress& address) {
      return address.guard == Guard::kTls;
    });
  };
  if (HasTls(config) && !uses_tls(Audience::kEngines) && !uses_tls(Audience::kAdmins))
    return Wrong("--tls_cert: no address uses it: --listen and --admin_listen have none of TCP");
  return absl::OkStatus();
}

absl::Status CheckGuards(const Config& config, Audience audience) {
  const char* const prefix = audience == Audience::kAdmins ? "admin_" : "";
  for (const ListenAddress& address : AddressesOf(config, audience)) {
    if (address.guard == Guard::kTls && !HasTls(config)) {
      return Wrong(absl::StrCat(address.flag, ": \"", address.text,
                                "\" needs --tls_cert and --tls_key; what every user of this "
                                "machine or network may reach in plain text is given with "
                                "--insecure_",
                                prefix, "listen"));
    }
    if (address.guard == Guard::kNothing && SocketPathOf(address.text).has_value()) {
      return Wrong(absl::StrCat(address.flag, ": \"", address.text,
                                "\" is a Unix socket, which belongs to --", prefix, "listen"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// The one place that decides how an address is guarded; the server opens what is listed here.
std::vector<ListenAddress> AddressesOf(const Config& config, Audience audience) {
  const bool for_admins = audience == Audience::kAdmins;
  std::vector<ListenAddress> all;
  for (const std::string& address : for_admins ? config.admin_listen : config.listen) {
    all.push_back({address, SocketPathOf(address).has_value() ? Guard::kFile : Guard::kTls,
                   for_admins ? "--admin_listen" : "--listen"});
  }
  for (const std::string& address :
       for_admins ? config.insecure_admin_listen : config.insecure_listen) {
    all.push_back(
        {address, Guard::kNothing, for_admins ? "--insecure_admin_listen" : "--insecure_listen"});
  }
  return all;
}

// Each error says which flag to use instead: what is refused here has mostly been meant.
absl::Status CheckAddresses(const Config& config) {
  if (absl::Status checked = CheckTlsFlags(config); !checked.ok()) return checked;
  const absl::Status engines = CheckGuards(config, Audience::kEngines);
  if (!engines.ok()) return engines;
  const absl::Status admins = CheckGuards(config, Audience::kAdmins);
  if (!admins.ok()) return admins;
  if (!config.playground_listen.empty() && !config.insecure_playground_listen.empty())
    return Wrong("--playground_listen: --insecure_playground_listen is given, too; one is enough");
  if (config.listen.empty() && config.insecure_listen.empty())
    return Wrong("--listen: at least one address is needed");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ParseAddresses(absl::string_view value) {
  std::vector<std::string> all;
  for (absl::string_view address : absl::StrSplit(value, ',', absl::SkipEmpty())) {
    if (absl::Status checked = CheckAddress(address); !checked.ok()) return checked;
    all.emplace_back(address);
  }
  return all;
}

// The last colon, as an IPv6 address has some of its own. Whether the host exists is known when the
// socket is opened; port 0 takes a free one.
absl::Status CheckHostPort(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::int64_t port = 0;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return Wrong(absl::StrCat("\"", address, "\" is not host:port",
                              absl::StartsWith(address, "/") ? "; a socket is unix:/path" : ""));
  }
  return absl::OkStatus();
}

bool IsLoopback(absl::string_view address) {
  const std::string host = absl::AsciiStrToLower(address.substr(0, address.rfind(':')));
  in_addr number{};
  return host == "localhost" || host == "[::1]" || host == "::1" ||
         (absl::StartsWith(host, "127.") && inet_pton(AF_INET, host.c_str(), &number) == 1);
}

bool HasPlayground(const Config& config) {
  return !config.playground_listen.empty() || !config.insecure_playground_listen.empty();
}

// By hand: the mode is octal with or without a leading 0, as chmod reads it. Once too large it
// stays too large, so a long text cannot overflow.
absl::StatusOr<std::int64_t> ParseSocketMode(absl::string_view value) {
  constexpr int kOctal = 8;
  constexpr std::int64_t kMostRights = 0777;
  std::int64_t mode = 0;
  for (const char digit : value) {
    if (digit < '0' || digit >= '0' + kOctal || mode > kMostRights) mode = kMostRights + 1;
    if (mode <= kMostRights) mode = kOctal * mode + (digit - '0');
  }
  if (value.empty() || mode > kMostRights)
    return Wrong(absl::StrCat("\"", value, "\" is not an octal number up to 0777, such as 0770"));
  return mode;
}

// A number needs no entry in the machine's table: in a container there is often none.
absl::StatusOr<std::int64_t> ParseGroup(absl::string_view value) {
  std::int64_t id = 0;
  if (!absl::SimpleAtoi(value, &id)) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): on the main thread alone
    const group* const found = getgrnam(std::string(value).c_str());
    id = found == nullptr ? -1 : static_cast<std::int64_t>(found->gr_gid);
  }
  // The largest value is -1 to chown(), "leave it as it is".
  if (id < 0 || id >= std::numeric_limits<gid_t>::max())
    return Wrong(absl::StrCat("\"", value, "\" is neither a group of this machine nor an id"));
  return id;
}

absl::StatusOr<std::vector<std::int64_t>> ParseUsers(absl::string_view value) {
  std::vector<std::int64_t> ids;
  for (absl::string_view user : absl::StrSplit(value, ',', absl::SkipEmpty())) {
    std::int64_t id = 0;
    if (!absl::SimpleAtoi(user, &id)) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): on the main thread alone
      const passwd* const found = getpwnam(std::string(user).c_str());
      id = found == nullptr ? -1 : static_cast<std::int64_t>(found->pw_uid);
    }
    if (id < 0 || id >= std::numeric_limits<uid_t>::max())
      return Wrong(absl::StrCat("\"", user, "\" is neither a user of this machine nor an id"));
    ids.push_back(id);
  }
  return ids;
}

std::optional<absl::string_view> SocketPathOf(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return std::nullopt;
  return address;
}

}  // namespace maskd::service
