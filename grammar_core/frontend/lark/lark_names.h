// Names in a Lark grammar: rules are in lower case, terminals in upper case.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_NAMES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_NAMES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Letters are all of lower case, or all of upper case; one underscore may stand in front.
bool IsRuleName(absl::string_view name);
bool IsTerminalName(absl::string_view name);

// Takes letters, digits, '_' and '-' between them; may be empty.
absl::string_view TakeWord(SourceReading& reading);

// Takes the name of a rule or a terminal; INVALID_ARGUMENT, asking for `what`, where none stands.
absl::StatusOr<absl::string_view> ReadLarkName(SourceReading& reading, absl::string_view what);

// Passes spaces, tabs, comments, and ends of lines with a backslash before them.
void PassInlineSpace(PatternCursor& cursor);
// The same and the ends of lines.
void PassLines(PatternCursor& cursor);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_NAMES_H_
