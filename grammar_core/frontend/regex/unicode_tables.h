// General categories, scripts, some binary properties and simple case folding, as constant tables.
//
// Source   the Unicode Character Database, in the version that unicode_tables.cc names; that file
//          is written by tools/dev/gen_unicode_tables.py.
// Layout   a set's ranges are UnicodeRanges()[first, first + count), ascending. Fold steps ascend
//          by their character; going from `c` to `next` again and again visits every character that
//          folds as `c` does and ends at `c`. What folds with nothing else has no step.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_UNICODE_TABLES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_UNICODE_TABLES_H_

#include <cstdint>

#include "absl/types/span.h"

#include "grammar_core/base/char_set.h"

namespace maskd {

// What \p{...} may ask for: a general category, a script or a binary property.
enum class UnicodeSetKind : std::uint8_t { kCategory, kScript, kBinary };

// A named set: a range of UnicodeRanges().
struct UnicodeSet {
  UnicodeSetKind kind;
  const char* short_name;  // "Lu", "Grek"
  const char* long_name;   // "Uppercase_Letter", "Greek"
  std::uint32_t first;
  std::uint32_t count;
};

// One step of a ring of characters that fold alike.
struct FoldStep {
  std::uint32_t c;
  std::uint32_t next;
};

// The tables; constants of the program.
absl::Span<const CharRange> UnicodeRanges();
absl::Span<const UnicodeSet> UnicodeSets();
absl::Span<const FoldStep> UnicodeFoldSteps();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_UNICODE_TABLES_H_
