// The classes of characters of GBNF and EBNF: [a-z], [^"\\].
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_CHAR_CLASS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_CHAR_CLASS_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"

namespace maskd {

// Reads a class; the cursor is behind its '['. A '-' that begins or ends it is a character. In EBNF
// [] is no character and [^] is any; GBNF is refused there, as its readers differ.
absl::StatusOr<CharSet> ReadEbnfClass(EbnfDialect dialect, PatternCursor& cursor, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_CHAR_CLASS_H_
