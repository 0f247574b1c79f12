// The line of the log that says who had which grammar, when --audit asks for it.
//
//   2026-11-24T09:40:00.123Z audit caller=token:a tenant=red what=open grammar=9f2c... kind=regex
//   options=white_space:compact verdict=OK
//
// Content  never a text, a token of a vocabulary or a prompt.
// Threads  any.
#ifndef MASKD_SERVICE_GRAMMARS_AUDIT_H_
#define MASKD_SERVICE_GRAMMARS_AUDIT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "service/callers/caller.h"
#include "service/grammars/grammar_store.h"

namespace maskd::service {

// `grammar_id` is empty where the text was refused before it had one. Nothing without
// caller.audited.
void Audit(const Caller& caller, absl::string_view what, const GrammarTarget& target,
           absl::string_view grammar_id, const absl::Status& verdict);

// Options that are not the default, as "name:value,name:value"; of texts only that they are there.
std::string OptionsText(const GrammarOptions& options);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_AUDIT_H_
