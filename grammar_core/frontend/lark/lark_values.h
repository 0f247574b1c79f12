// The values of a Lark grammar that are no names: strings, ranges, patterns and tokens.
//
// Errors   INVALID_ARGUMENT and UNIMPLEMENTED at line:column.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_VALUES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_VALUES_H_

#include <string>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Reads "text", with an i behind it or not, or "a".."z". An expression of characters.
absl::StatusOr<ExprId> ReadLarkString(SourceReading& reading, SourceGrammar& grammar);

// Reads "text", which takes no flag: of an attribute.
absl::StatusOr<std::string> ReadPlainString(SourceReading& reading);

// Reads /pattern/ with its flags. An expression of characters.
absl::StatusOr<ExprId> ReadLarkPattern(SourceReading& reading, SourceGrammar& grammar);

// Reads <name>, <[ids and ranges]>, <[^ids and ranges]> or <[*]>. An expression of bytes.
absl::StatusOr<ExprId> ReadLarkToken(SourceReading& reading, SourceGrammar& grammar);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_VALUES_H_
