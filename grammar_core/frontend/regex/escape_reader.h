// What a backslash begins, and the classes in brackets.
//
// Errors   INVALID_ARGUMENT for what no dialect reads, or where dialects read different things;
//          UNIMPLEMENTED for back-references and other constructs that are known and not supported.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_ESCAPE_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_ESCAPE_READER_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"

namespace maskd {

// What an escape stands for: one character, or a set of them.
struct Escaped {
  std::optional<std::uint32_t> character;
  CharSet set;
};

// Reads an escape; the cursor is behind its backslash. With `fold`, sets hold all that folds alike.
absl::StatusOr<Escaped> ReadEscape(PatternCursor& cursor, bool in_class, bool fold);

// Reads a class; the cursor is behind its '['.
absl::StatusOr<CharSet> ReadClass(PatternCursor& cursor, bool fold, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_ESCAPE_READER_H_
