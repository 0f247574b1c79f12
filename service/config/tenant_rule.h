// What the configuration says of a tenant: who it is and what it may use.
//
// Identity  "uid:1000" (a user over a Unix socket), "token:NAME" (the token's name in its file),
//           "cert:NAME" (of a client's certificate: an alternative name, else the common name),
//           "proxy:NAME" (as a trusted proxy says it), "address:10.0.0.7" (over TCP, of who shows
//           nothing better), "playground" (this server's own page), or "*": whoever is no other
//           tenant.
// Threads   plain values.
#ifndef MASKD_SERVICE_CONFIG_TENANT_RULE_H_
#define MASKD_SERVICE_CONFIG_TENANT_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace maskd::service {

// Whether it is a kind and a name, as above; "*" and "playground" are none.
inline bool IsIdentity(absl::string_view identity) {
  for (const absl::string_view kind : {"uid:", "token:", "cert:", "proxy:", "address:"})
    if (absl::StartsWith(identity, kind)) return identity.size() > kind.size();
  return false;
}

// The playground's identity, and its name as a peer and as a tenant.
inline constexpr char kPlayground[] = "playground";
// Streams that it may have, beside those of --max_streams.
inline constexpr int kPlaygroundStreams = 4;

// 0: no limit.
struct TenantLimits {
  std::int64_t compiles_at_once = 0;  // those that wait for a thread included
  std::int64_t compiles_per_minute = 0;
  std::int64_t cache_bytes = 0;
  std::int64_t max_rows = 0;  // in all of its streams
  std::int64_t max_streams = 0;
  bool inline_grammars = true;                // else by their ids alone
  absl::flat_hash_set<std::string> grammars;  // ids that are allowed; empty: all
};

// A tenant as the configuration has it.
struct TenantRule {
  std::string name;
  std::vector<std::string> identities;
  TenantLimits limits;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_TENANT_RULE_H_
