// Finds what a $ref names, within the schema's own text.
//
// Known    "#", "#/a/b" (RFC 6901, percent-encoded or not), and the same behind the root's own $id.
// Errors   INVALID_ARGUMENT where the place does not exist or is no schema; UNIMPLEMENTED for other
//          documents, anchors, and references that stand below an $id of their own.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_REF_RESOLVER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_REF_RESOLVER_H_

#include "absl/status/statusor.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/dialect.h"

namespace maskd {

// The schema that `ref`, the string value of a $ref keyword, names.
absl::StatusOr<JsonValue> ResolveRef(const JsonValue& root, const JsonValue& ref,
                                     const Dialect& dialect);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_REF_RESOLVER_H_
