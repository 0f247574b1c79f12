// The file of --config: a text is refused at a place of its own, or says the same when it is read
// again.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"

#include "service/process/config_file.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

constexpr char kPath[] = "fuzz.conf";
constexpr std::size_t kLongestMessage = 1 << 14;  // a value of 4 KiB, each byte as four

void CheckTenants(const service::Config& config) {
  std::set<std::string> names;
  std::set<std::string> identities;
  for (const service::TenantRule& rule : config.tenants) {
    Require(names.insert(rule.name).second, "a tenant's name is its own", rule.name);
    Require(!rule.identities.empty(), "a tenant is somebody", rule.name);
    for (const std::string& identity : rule.identities)
      Require(identities.insert(identity).second, "an identity is of one tenant", identity);
  }
}

void CheckConfig(const std::string& text) {
  service::Config config;
  const absl::Status read = service::ReadConfigText(text, kPath, &config);
  service::Config again;
  const absl::Status read_again = service::ReadConfigText(text, kPath, &again);
  Require(read == read_again, "a text means the same twice", std::string(read.ToString()));
  if (read.ok()) return CheckTenants(config);
  const std::string message(read.message());
  Require(absl::IsInvalidArgument(read), "a refusal has its code", message);
  Require(absl::StartsWith(message, "fuzz.conf:"), "a refusal says its place", message);
  Require(message.size() <= kLongestMessage, "a refusal is short", message);
}

void RunConfig(absl::string_view /*name*/, absl::string_view input) {
  CheckConfig(std::string(input));
}

}  // namespace

MASKD_FUZZ_TARGETS(RunConfig, "config");

}  // namespace maskd::fuzz
