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
#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"

namespace maskd {

// What an escape stands for: one character, or a set of them.
struct Escaped {
  std::optional<std::uint32_t> character;
  CharSet set;
};

// How sets are meant.
struct SetStyle {
  // They hold all that folds alike.
  bool fold;
  const Shorthands& shorthands;
};

// Units of work of a set of so many ranges that an escape or a class names.
std::int64_t SetUnits(std::size_t ranges, bool fold);

// Reads an escape; the cursor is behind its backslash.
absl::StatusOr<Escaped> ReadEscape(PatternCursor& cursor, bool in_class, const SetStyle& style);

// Reads a class; the cursor is behind its '['.
absl::StatusOr<CharSet> ReadClass(PatternCursor& cursor, const SetStyle& style, Budget& budget);

// Reads `digits` hexadecimal digits. Errors: INVALID_ARGUMENT where fewer stand here.
absl::StatusOr<std::uint32_t> ReadHexDigits(PatternCursor& cursor, int digits);

// Behind "\u" and four digits that give `unit`: where it is a high surrogate and an escaped low one
// follows, the character of both; else `unit`.
std::uint32_t WithLowSurrogate(PatternCursor& cursor, std::uint32_t unit);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_ESCAPE_READER_H_
