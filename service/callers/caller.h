// Whose call it is.
#ifndef MASKD_SERVICE_CALLERS_CALLER_H_
#define MASKD_SERVICE_CALLERS_CALLER_H_

#include <string>

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

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_CALLER_H_
