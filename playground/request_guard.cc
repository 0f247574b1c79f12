#include "playground/request_guard.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include <arpa/inet.h>

namespace maskd::playground {
namespace {

// "name" of "name", "name:80", "[::1]" and "[::1]:80"; empty where it is none of these.
std::string NameOf(absl::string_view host) {
  if (absl::StartsWith(host, "[")) {
    const std::size_t end = host.find(']');
    return end == absl::string_view::npos ? "" : std::string(host.substr(1, end - 1));
  }
  return absl::AsciiStrToLower(host.substr(0, host.find(':')));
}

bool IsAddress(const std::string& name) {
  in6_addr address;
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

}  // namespace

bool HostIsAllowed(absl::string_view host, const std::vector<std::string>& names) {
  const std::string name = NameOf(host);
  if (name.empty()) return false;
  return IsAddress(name) || name == "localhost" || std::ranges::find(names, name) != names.end();
}

bool OriginIsAllowed(absl::string_view origin, absl::string_view host) {
  return origin.empty() || absl::EqualsIgnoreCase(origin, absl::StrCat("http://", host));
}

bool IsJson(absl::string_view content_type) {
  const absl::string_view type = content_type.substr(0, content_type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(type), "application/json");
}

}  // namespace maskd::playground
