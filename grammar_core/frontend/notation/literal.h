// Quoted texts and escaped characters, as the notations of grammars write them.
//
// Errors   INVALID_ARGUMENT at line:column: an escape that the notation does not have, a surrogate
//          alone, a code point past U+10FFFF, a literal without an end.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LITERAL_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LITERAL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"

namespace maskd {

// What a notation lets stand behind a backslash.
struct LiteralStyle {
  // Characters that stand for themselves.
  absl::string_view plain;
  // Letters of the control characters, of "0abefnrtv".
  absl::string_view controls;
  // Digits behind \x: exactly so many; 0: any number.
  int hex_digits = 2;
  // Whether \u takes a pair of surrogates for one character.
  bool surrogate_pairs = false;
  // Whether the line may end within a literal.
  bool newlines = false;
};

// Reads one character, escaped or not. There must be one.
absl::StatusOr<std::uint32_t> ReadLiteralCharacter(PatternCursor& cursor,
                                                   const LiteralStyle& style);

// Reads up to the closing quote and passes it; the cursor is behind the opening one. Gives UTF-8.
absl::StatusOr<std::string> ReadQuoted(PatternCursor& cursor, const LiteralStyle& style,
                                       Budget& budget);

// Reads a decimal number. RESOURCE_EXHAUSTED, naming `limit_name`, where it is over `limit`;
// INVALID_ARGUMENT, asking for `what`, where none stands here.
absl::StatusOr<std::uint64_t> ReadNumber(PatternCursor& cursor, absl::string_view what,
                                         absl::string_view limit_name, std::uint64_t limit);

// The id of a token: 0 to 4294967295. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::uint32_t> ReadTokenId(PatternCursor& cursor);

// A temperature: a number that is not negative. Errors: INVALID_ARGUMENT.
absl::StatusOr<float> ReadTemperature(PatternCursor& cursor);

// How often a part may be repeated: 2,147,483,647, as in a pattern.
absl::StatusOr<std::uint32_t> ReadRepeatCount(PatternCursor& cursor);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LITERAL_H_
