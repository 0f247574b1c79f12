#include "client/cpp/connect/resolve.h"

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include <arpa/inet.h>
#include <netdb.h>

namespace maskd::client {
namespace {

constexpr std::size_t kMostServers = 256;
constexpr std::chrono::seconds kPatience{2};

struct HostAndPort {
  std::string host;
  std::string port;
};

bool IsNumber(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::optional<HostAndPort> NameOf(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "dns:")) {
    absl::ConsumePrefix(&address, "///");
  } else if (absl::StartsWith(address, "unix") || absl::StartsWith(address, "ipv") ||
             absl::StartsWith(address, "local:")) {
    return std::nullopt;
  }
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || colon == 0 || absl::StrContains(address, '/') ||
      absl::StrContains(address, '@') || address.front() == '[') {
    return std::nullopt;
  }
  HostAndPort name{std::string(address.substr(0, colon)), std::string(address.substr(colon + 1))};
  if (name.port.empty() || absl::StrContains(name.host, ':') || IsNumber(name.host))
    return std::nullopt;
  return name;
}

std::string Written(const sockaddr& address, socklen_t size, const HostAndPort& name) {
  std::array<char, NI_MAXHOST> host;
  if (getnameinfo(&address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  const bool is_v6 = address.sa_family == AF_INET6;
  return absl::StrCat(is_v6 ? "[" : "", host.data(), is_v6 ? "]:" : ":", name.port, "@", name.host);
}

absl::StatusOr<std::vector<std::string>> AskSystem(const std::string& address,
                                                   const HostAndPort& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(name.host.c_str(), name.port.c_str(), &hints, &found);
  if (failed != 0) return absl::UnavailableError(absl::StrCat(address, ": ", gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  std::set<std::string> servers;
  for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
    std::string written = Written(*one->ai_addr, one->ai_addrlen, name);
    if (!written.empty() && servers.size() < kMostServers) servers.insert(std::move(written));
  }
  if (servers.empty()) return absl::UnavailableError(absl::StrCat(address, ": has no servers"));
  return std::vector<std::string>(servers.begin(), servers.end());
}

}  // namespace

bool IsName(absl::string_view address) { return NameOf(address).has_value(); }

// On a thread that may be left behind: the system's resolver cannot be told to stop.
absl::StatusOr<std::vector<std::string>> ResolveByDns(const std::string& address) {
  const auto name = NameOf(address);
  if (!name.has_value()) return std::vector<std::string>{address};
  using Servers = absl::StatusOr<std::vector<std::string>>;
  auto asked = std::make_shared<std::promise<Servers>>();
  std::future<Servers> answer = asked->get_future();
  try {
    std::thread([asked, address, name = *name] {
      asked->set_value(AskSystem(address, name));
    }).detach();
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat(address, ": no thread: ", error.what()));
  }
  if (answer.wait_for(kPatience) == std::future_status::ready) return answer.get();
  return absl::UnavailableError(absl::StrCat(address, ": the system's resolver does not answer"));
}

NamedAddress SplitName(absl::string_view address) {
  const std::size_t at = address.rfind('@');
  if (absl::StartsWith(address, "unix") || absl::StartsWith(address, "local:") ||
      at == absl::string_view::npos) {
    return {std::string(address), ""};
  }
  return {std::string(address.substr(0, at)), std::string(address.substr(at + 1))};
}

}  // namespace maskd::client
