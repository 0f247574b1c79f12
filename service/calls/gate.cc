// gRPC tells of a call its peer, its metadata and its certificate; Shown is what of that may name a
// caller. Nothing is judged here: admission.h has the rules, and needs no gRPC for its tests.
#include "service/calls/gate.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

#include "service/base/trace.h"

namespace maskd::service {
namespace {

constexpr char kTokenKey[] = "authorization";
constexpr char kTraceKey[] = "traceparent";
constexpr absl::string_view kBearer = "Bearer ";

// What metadata says under a key that stands there once.
std::optional<std::string> OnlyValue(const grpc::ServerContextBase& context,
                                     const std::string& key) {
  // Twice means that somebody between has added one: whose it is cannot be told, so it is none.
  const auto& all = context.client_metadata();
  const auto [first, end] = all.equal_range(grpc::string_ref(key));
  if (first == end || std::next(first) != end) return std::nullopt;
  return std::string(first->second.data(), first->second.size());
}

std::vector<std::string> CertificateNames(const grpc::ServerContextBase& context) {
  std::vector<std::string> names;
  const std::shared_ptr<const grpc::AuthContext> auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return names;
  for (const char* property : {"x509_subject_alternative_name", "x509_common_name"})
    for (const grpc::string_ref& name : auth->FindPropertyValues(property))
      names.emplace_back(name.data(), name.size());
  return names;
}

}  // namespace

absl::StatusOr<Caller> Gate::Admit(const grpc::ServerContextBase& context) const {
  absl::StatusOr<Caller> caller = admission_->Admit(ShownBy(context));
  if (caller.ok()) {
    caller->connection = context.peer();
    if (const auto said = OnlyValue(context, kTraceKey); said.has_value())
      caller->trace = ReadTraceParent(*said);
  }
  return caller;
}

absl::StatusOr<Caller> Gate::AdmitAdmin(const grpc::ServerContextBase& context) const {
  return admission_->AdmitAdmin(ShownBy(context));
}

Shown Gate::ShownBy(const grpc::ServerContextBase& context) const {
  Shown shown;
  shown.peer = PeerOf(context);
  if (const auto said = OnlyValue(context, kTokenKey); said.has_value()) {
    const bool is_bearer = absl::StartsWithIgnoreCase(*said, kBearer);
    // Another scheme is a token that nobody has, so the call is refused and not taken as without.
    shown.token = is_bearer ? said->substr(kBearer.size()) : std::string();
  }
  // Over a Unix socket the kernel says who it is; there is no certificate.
  if (!shown.peer.is_local) shown.certificates = CertificateNames(context);
  if (const std::string key = admission_->proxy_metadata(); !key.empty())
    shown.proxied = OnlyValue(context, key);
  return shown;
}

}  // namespace maskd::service
