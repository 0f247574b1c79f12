// The rules are one immutable value behind a pointer: a call takes the pointer and judges by what
// it points to, and a reload puts another in its place. Tenants are kept by name over a reload,
// with what they have in use.
//
// Order    proxied identity, token, certificate, user or address. A caller may show several; the
//          first that a tenant has decides, else the first of all is its name.
// Invariant  a token that is shown and not known refuses the call, also where an address alone
//            would do.
// May block  nothing: the lock is held to copy a pointer.
#include "service/callers/admission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "service/base/errors.h"
#include "service/config/addresses.h"

namespace maskd::service {
namespace {

using metrics::Figure;

constexpr char kEverybody[] = "all";
constexpr char kAnyIdentity[] = "*";
constexpr std::size_t kMaxProxiedBytes = 256;
// Of the playground: enough for two people, and too little to be felt by engines.
TenantLimits PlaygroundLimits() {
  TenantLimits limits;
  limits.compiles_at_once = 1;
  limits.cache_bytes = std::int64_t{64} << 20;
  limits.max_rows = 4 * kPlaygroundStreams;
  limits.max_streams = kPlaygroundStreams;
  return limits;
}

absl::Status Unauthenticated(absl::string_view reason, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kUnauthenticated, "", reason, message);
}

absl::Status At(absl::string_view flag, const absl::Status& status) {
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

// Reads a file, so it is called by main's thread alone, and before the lock.
absl::StatusOr<std::shared_ptr<const TokenTable>> TokensOf(const std::string& path) {
  if (path.empty()) return std::make_shared<const TokenTable>();
  absl::StatusOr<TokenTable> table = TokenTable::Read(path);
  if (!table.ok()) return At("--tokens", table.status());
  return std::make_shared<const TokenTable>(*std::move(table));
}

Figure TenantFigure(metrics::MetricName name, Figure::Type type, std::int64_t value,
                    const std::string& tenant) {
  return {.name = name,
          .type = type,
          .value = static_cast<double>(value),
          .label = "tenant",
          .label_value = tenant};
}

Tenant::Figures Sum(Tenant::Figures a, const Tenant::Figures& b) {
  for (std::size_t i = 0; i < Tenant::kUseCount; ++i) {
    a.in_use[i] += b.in_use[i];
    a.refused[i] += b.refused[i];
  }
  a.compiles += b.compiles;
  a.cache_bytes += b.cache_bytes;
  return a;
}

}  // namespace

Admission::Admission() : playground_(std::make_shared<Tenant>(kPlayground)) {
  playground_->SetLimits(PlaygroundLimits());
  auto rules = std::make_shared<Rules>();
  rules->tokens = std::make_shared<const TokenTable>();
  rules->others = std::make_shared<Tenant>(kEverybody);
  rules->tenants = {rules->others};
  rules_ = std::move(rules);
}

std::shared_ptr<const Admission::Rules> Admission::rules() const {
  const MutexLock lock(&mutex_);
  return rules_;
}

// At the start and at a reload, on main's thread. Streams that run keep the tenant that they came
// with, also one that the new rules do not have any more: it lives until the last of them ends.
absl::Status Admission::Configure(const Config& config) {
  auto tokens = TokensOf(config.tokens);
  if (!tokens.ok()) return tokens.status();
  auto made = std::make_shared<Rules>();
  made->proxy_metadata = config.proxy_metadata;
  made->users.insert(config.socket_users.begin(), config.socket_users.end());
  made->admins.insert(config.admin_callers.begin(), config.admin_callers.end());
  for (const std::int64_t user : config.proxy_users)
    made->proxies.insert(absl::StrCat("uid:", user));
  made->wants_token = !config.tokens.empty();
  made->audits = config.audit;
  made->tokens = *std::move(tokens);
  absl::flat_hash_map<std::string, TenantPtr> known;
  for (const TenantPtr& tenant : tenants()) known.emplace(tenant->name(), tenant);
  std::vector<TenantRule> tenant_rules = config.tenants;
  if (tenant_rules.empty()) tenant_rules.push_back({kEverybody, {kAnyIdentity}, {}});
  for (TenantRule& rule : tenant_rules) {
    TenantPtr& tenant = known[rule.name];
    if (tenant == nullptr) tenant = std::make_shared<Tenant>(rule.name);
    made->tenants.push_back(tenant);
    for (const std::string& identity : rule.identities) {
      if (identity == kAnyIdentity) made->others = tenant;
      made->of.emplace(identity, tenant);
    }
  }
  if (HasPlayground(config) && !made->of.contains(kPlayground)) {
    TenantPtr& tenant = known[kPlayground];
    if (tenant == nullptr) tenant = playground_;
    const bool is_listed = std::ranges::find(made->tenants, tenant) != made->tenants.end();
    if (!is_listed) made->tenants.push_back(tenant);
    made->of.emplace(kPlayground, tenant);
  }
  // Last, when nothing can fail any more: tenants that stay are in use while this runs.
  for (std::size_t i = 0; i < tenant_rules.size(); ++i)
    made->tenants[i]->SetLimits(std::move(tenant_rules[i].limits));
  const MutexLock lock(&mutex_);
  rules_ = std::move(made);
  return absl::OkStatus();
}

// Main looks at the file once a second. One that cannot be read leaves the tokens as they were: a
// file that is half written must not lock everybody out.
absl::Status Admission::ReadTokens(const std::string& path) {
  auto tokens = TokensOf(path);
  if (!tokens.ok()) return tokens.status();
  auto made = std::make_shared<Rules>(*rules());
  made->tokens = *std::move(tokens);
  const MutexLock lock(&mutex_);
  rules_ = std::move(made);
  return absl::OkStatus();
}

// For each call and stream that comes, on the thread that serves it. The rules may be replaced
// while it is judged; it is judged by the old ones.
absl::StatusOr<Caller> Admission::Admit(const Shown& shown) {
  return Counted(Judge(shown, *rules()));
}

absl::StatusOr<Caller> Admission::AdmitAdmin(const Shown& shown) {
  return Counted(JudgeAdmin(shown, *rules()));
}

absl::StatusOr<Caller> Admission::Counted(absl::StatusOr<Caller> caller) {
  if (absl::IsUnauthenticated(caller.status())) ++unauthenticated_;
  if (absl::IsPermissionDenied(caller.status())) ++denied_;
  return caller;
}

absl::StatusOr<Caller> Admission::Judge(const Shown& shown, const Rules& rules) const {
  absl::StatusOr<std::vector<std::string>> identities = IdentitiesOf(shown, rules);
  if (!identities.ok()) return identities.status();
  for (std::string& identity : *identities)
    if (const auto found = rules.of.find(identity); found != rules.of.end())
      return Caller{std::move(identity), found->second, rules.audits, {}};
  if (rules.others == nullptr) {
    return ErrorAt(absl::StatusCode::kPermissionDenied, "", "NO_TENANT",
                   "the caller is no tenant of this server");
  }
  return Caller{std::move(identities->front()), rules.others, rules.audits, {}};
}

absl::StatusOr<Caller> Admission::JudgeAdmin(const Shown& shown, const Rules& rules) {
  absl::StatusOr<std::vector<std::string>> identities = IdentitiesOf(shown, rules);
  if (!identities.ok()) return identities.status();
  if (rules.admins.empty()) return Caller{std::move(identities->front()), nullptr, false, {}};
  for (std::string& identity : *identities)
    if (rules.admins.contains(identity)) return Caller{std::move(identity), nullptr, false, {}};
  return ErrorAt(absl::StatusCode::kPermissionDenied, "", "NO_ADMIN",
                 "the caller is none of --admin_callers");
}

// A trusted proxy is nobody itself: a call of its that names no caller is refused, else it would
// have the proxy's own rights.
absl::StatusOr<std::vector<std::string>> Admission::IdentitiesOf(const Shown& shown,
                                                                 const Rules& rules) {
  std::vector<std::string> identities;
  if (shown.peer.is_local && rules.proxies.contains(shown.peer.name)) {
    const std::string name = shown.proxied.value_or("");
    if (name.empty() || name.size() > kMaxProxiedBytes)
      return Unauthenticated("NO_PROXIED_IDENTITY", "the proxy does not say whose call this is");
    return std::vector<std::string>{absl::StrCat("proxy:", ValidUtf8(name))};
  }
  if (shown.token.has_value() && rules.wants_token) {
    const std::optional<std::string> name = rules.tokens->Find(*shown.token);
    if (!name.has_value()) return Unauthenticated("UNKNOWN_TOKEN", "the token is not known");
    identities.push_back(absl::StrCat("token:", *name));
  }
  for (const std::string& name : shown.certificates)
    identities.push_back(absl::StrCat("cert:", name));
  if (identities.empty() && !shown.peer.is_local && rules.wants_token)
    return Unauthenticated("NO_TOKEN", "this address needs a bearer token");
  identities.push_back(shown.peer.is_local ? shown.peer.name
                                           : absl::StrCat("address:", shown.peer.name));
  return identities;
}

std::string Admission::proxy_metadata() const { return rules()->proxy_metadata; }

bool Admission::MayConnect(std::int64_t user) const {
  const auto current = rules();
  return current->users.empty() || current->users.contains(user);
}

std::vector<TenantPtr> Admission::tenants() const { return rules()->tenants; }

std::vector<Figure> Admission::ReadFigures() const {
  std::vector<std::pair<std::string, Tenant::Figures>> all;
  const std::vector<TenantPtr> tenants = this->tenants();
  // A label has a bounded number of values: tenants beyond are one figure together.
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if (i < kMaxLabels)
      all.emplace_back(tenants[i]->name(), tenants[i]->figures());
    else if (i == kMaxLabels)
      all.emplace_back("other", tenants[i]->figures());
    else
      all.back().second = Sum(all.back().second, tenants[i]->figures());
  std::vector<Figure> figures;
  const auto add = [&](metrics::MetricName name, Figure::Type type, const auto& value_of) {
    for (const auto& [tenant, each] : all)
      figures.push_back(TenantFigure(name, type, value_of(each), tenant));
  };
  const auto use = [](Tenant::Use use) {
    return [i = static_cast<std::size_t>(use)](const Tenant::Figures& of) { return of.in_use[i]; };
  };
  add(metrics::kTenantStreams, Figure::Type::kGauge, use(Tenant::Use::kStream));
  add(metrics::kTenantRows, Figure::Type::kGauge, use(Tenant::Use::kRow));
  add(metrics::kTenantCacheBytes, Figure::Type::kGauge,
      [](const Tenant::Figures& of) { return of.cache_bytes; });
  add(metrics::kTenantCompilesTotal, Figure::Type::kCounter,
      [](const Tenant::Figures& of) { return of.compiles; });
  add(metrics::kTenantRefusedTotal, Figure::Type::kCounter,
      [](const Tenant::Figures& of) { return of.refused[0] + of.refused[1] + of.refused[2]; });
  const auto refused = [&](const char* reason, std::int64_t count) {
    figures.push_back({.name = metrics::kCallersRefusedTotal,
                       .type = Figure::Type::kCounter,
                       .value = static_cast<double>(count),
                       .label = "reason",
                       .label_value = reason});
  };
  refused("unauthenticated", unauthenticated_);
  refused("permission_denied", denied_);
  return figures;
}

}  // namespace maskd::service
