// Who may call, and as whom: from what a call shows to an identity and its tenant.
//
// Unix socket  the user is the identity; one of --proxy_users is not: it says in the metadata of
//              --proxy_metadata whose call it is. A token, where one is shown, is the identity
//              instead, and must be known.
// TCP          a token, else a client's certificate: one of them there must be where --tokens is
//              given; with neither, the address.
// Tenant       the first of the configured ones that has the identity, else the one of "*". Where
//              tenants are configured and none is it: PERMISSION_DENIED. Without: one for all.
// Playground   this server's own page is a tenant with its own limits, kPlayground, unless the
//              configuration has one of that identity or name.
// Threads      any. Rules change at once for the calls that come; those that run keep their tenant.
#ifndef MASKD_SERVICE_CALLERS_ADMISSION_H_
#define MASKD_SERVICE_CALLERS_ADMISSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/mutex.h"
#include "metrics/figures.h"
#include "service/callers/caller.h"
#include "service/callers/connections.h"
#include "service/callers/tenant.h"
#include "service/callers/token_table.h"
#include "service/config/config.h"

namespace maskd::service {

// What a call shows.
struct Shown {
  Peer peer;
  std::optional<std::string> token;       // "authorization: Bearer ..."
  std::vector<std::string> certificates;  // names of the client's certificate, the best first
  std::optional<std::string> proxied;     // the metadata of --proxy_metadata
};

// The rules of who may call, which may be replaced while calls come.
class Admission {
 public:
  // Tenants that have a label of their own in the metrics; the others are "other" together.
  static constexpr std::size_t kMaxLabels = 64;

  // Everybody may, as one tenant.
  Admission();

  // What `config` says, its token file included; nothing has changed after an error. Errors:
  // INVALID_ARGUMENT; the message starts with the flag.
  absl::Status Configure(const Config& config) ABSL_LOCKS_EXCLUDED(mutex_);
  // The tokens alone. As above.
  absl::Status ReadTokens(const std::string& path) ABSL_LOCKS_EXCLUDED(mutex_);

  // The tenant of a caller is never null. Errors: UNAUTHENTICATED, PERMISSION_DENIED.
  absl::StatusOr<Caller> Admit(const Shown& shown) ABSL_LOCKS_EXCLUDED(mutex_);

  // For a caller at an address for admins, where no tenants are. Errors: UNAUTHENTICATED;
  // PERMISSION_DENIED for one who is none of --admin_callers.
  absl::StatusOr<Caller> AdmitAdmin(const Shown& shown) ABSL_LOCKS_EXCLUDED(mutex_);

  // The key of --proxy_metadata; empty for none.
  [[nodiscard]] std::string proxy_metadata() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether a user may connect over a Unix socket.
  [[nodiscard]] bool MayConnect(std::int64_t user) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Those of the rules that hold now.
  [[nodiscard]] std::vector<TenantPtr> tenants() const ABSL_LOCKS_EXCLUDED(mutex_);
  // For each scrape.
  [[nodiscard]] std::vector<metrics::Figure> ReadFigures() const;

 private:
  struct Rules {
    std::string proxy_metadata;
    absl::flat_hash_set<std::string> proxies;  // "uid:1000"
    absl::flat_hash_set<std::int64_t> users;   // empty: all
    absl::flat_hash_set<std::string> admins;   // empty: all
    bool wants_token = false;                  // over TCP
    bool audits = false;
    std::shared_ptr<const TokenTable> tokens;        // never null
    std::vector<TenantPtr> tenants;                  // as configured; else the one for all
    absl::flat_hash_map<std::string, TenantPtr> of;  // by identity
    TenantPtr others;                                // of "*"
  };

  [[nodiscard]] std::shared_ptr<const Rules> rules() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Those of the shown, the best first. Errors: UNAUTHENTICATED.
  static absl::StatusOr<std::vector<std::string>> IdentitiesOf(const Shown& shown,
                                                               const Rules& rules);
  absl::StatusOr<Caller> Judge(const Shown& shown, const Rules& rules) const;
  static absl::StatusOr<Caller> JudgeAdmin(const Shown& shown, const Rules& rules);
  absl::StatusOr<Caller> Counted(absl::StatusOr<Caller> caller);

  // Where the configuration has none for it.
  const TenantPtr playground_;
  mutable Mutex mutex_;
  std::shared_ptr<const Rules> rules_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> unauthenticated_ = 0;
  std::atomic<std::int64_t> denied_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_ADMISSION_H_
