// Whose call it is.
#ifndef MASKD_SERVICE_CALLERS_CALLER_H_
#define MASKD_SERVICE_CALLERS_CALLER_H_

#include <string>

#include "absl/strings/str_cat.h"

#include "service/base/trace.h"
#include "service/callers/tenant.h"

namespace maskd::service {

// Who calls, as admission has found, for as long as the call lives.
struct Caller {
  std::string identity;         // see tenant_rule.h
  TenantPtr tenant;             // null: without limits
  bool audited = false;         // whether its grammars are logged
  Trace trace;                  // that its call belongs to
  std::string connection = {};  // it calls by; empty within a program
};

// Who has a turn where callers take turns: a connection, and whoever a proxy speaks for on it.
inline std::string TurnOwner(const Caller& caller) {
  return absl::StrCat(caller.identity, " ", caller.connection);
}

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_CALLER_H_
