// The schema of an object as those of its members: what tools have in common is mostly not the
// whole schema but that of a parameter, such as any string.
//
// Equal     what is put together is what ReadJsonSchema() makes of the whole, node by node, rule by
//           rule and remark by remark. Only the work that it takes is another.
// Which     objects with type, properties, required and additionalProperties alone, whose members
//           have schemas that can be read by themselves: none that refers to another one, has
//           warnings or values that must differ, or has in it what a member beside it has.
// Threads   no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MEMBER_SCHEMAS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MEMBER_SCHEMAS_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/known_schema.h"

namespace maskd {

// Reads the schema of a member by its text, with its steps.
using ReadMember = absl::FunctionRef<absl::StatusOr<SchemaRef>(absl::string_view text)>;

// The schema `root` put together; nothing where it is to be read as a whole, which also tells what
// is wrong with it. `beginning`: that of options and limits.
std::optional<KnownSchema> JoinMembers(const JsonValue& root, const GrammarOptions& options,
                                       const SchemaBeginning& beginning, const Limits& limits,
                                       Budget& budget, ReadMember read);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MEMBER_SCHEMAS_H_
