// The macros of EBNF, as expressions: Regex, Substring, Token, ExcludeToken, TagDispatch and
// TokenTagDispatch.
//
// Errors   INVALID_ARGUMENT for arguments that do not fit; UNIMPLEMENTED for tags of which one is
//          in another, whose meaning depends on the engine.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACROS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACROS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Whether a name before '(' is one of those above.
bool IsMacro(absl::string_view name);

// Reads the arguments of the macro `name`, which stands at the byte `at`; the cursor is behind it.
absl::StatusOr<ExprId> ReadMacro(absl::string_view name, std::size_t at, SourceReading& reading,
                                 SourceGrammar& grammar);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACROS_H_
