// The servers behind an address: a name of DNS may stand for many.
//
// Names    "dns:///maskd:7411", "dns:maskd:7411" and "maskd:7411" are asked for as the system does.
//          All else is one server: sockets, numbers, "local:...", a DNS server of one's own.
// TLS      a server found by its name is held to that name: "10.0.0.7:7411@maskd".
// Threads  any; ResolveByDns() waits two seconds at most.
#ifndef MASKD_CLIENT_CPP_CONNECT_RESOLVE_H_
#define MASKD_CLIENT_CPP_CONNECT_RESOLVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::client {

// Gives the servers behind one address. Errors: UNAVAILABLE.
using Resolver = std::function<absl::StatusOr<std::vector<std::string>>(const std::string&)>;

// Whether DNS may know more servers by `address` than one.
bool IsName(absl::string_view address);

// In ascending order, at most 256; `address` itself where it is no name.
absl::StatusOr<std::vector<std::string>> ResolveByDns(const std::string& address);

// The two parts of an address: what to connect to, and the name that it was found by, or none.
struct NamedAddress {
  std::string target;
  std::string name;
};
NamedAddress SplitName(absl::string_view address);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CONNECT_RESOLVE_H_
