// The named sets of characters of a pattern: \d \w \s, the dot, [:alpha:], \p{...}; case folding.
//
// Source   [:alpha:] and its like: RE2. \p{...}: unicode_tables.h. Folding: Unicode's simple case
//          folding. \d, \w, \s and the dot: see Shorthands.
// Threads  no state that changes; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHAR_CLASSES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHAR_CLASSES_H_

#include <optional>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"

namespace maskd {

// A-Z a-z 0-9 _.
const CharSet& WordChars();

// What \d, \w, \s and the dot (without the flag s) stand for: dialects differ.
struct Shorthands {
  CharSet digits;
  CharSet words;
  CharSet spaces;
  CharSet dot;
};
// ECMA-262 (CharacterClassEscape, LineTerminator): ASCII digits and words, Unicode's spaces, the
// dot without LF, CR, U+2028 and U+2029.
const Shorthands& EcmaShorthands();
// Python's `re` on str: Unicode's decimal digits, str.isalnum() and _, str.isspace(); the dot
// without LF.
const Shorthands& PythonShorthands();
// ASCII digits, words and spaces; the dot without LF.
const Shorthands& AsciiShorthands();

// The set of [:name:]; nothing for an unknown name.
std::optional<CharSet> PosixChars(absl::string_view name);

// The set of \p{property}: "L", "Letter", "gc=L", "Script=Greek", "sc=Grek", "Greek", "Any",
// "Assigned", "ASCII" or a binary property of the tables. Nothing for another name.
std::optional<CharSet> PropertyChars(absl::string_view property);
// Whether ECMA-262 has a property of this name which the tables do not.
bool IsPropertyWithoutTable(absl::string_view property);

// `chars` and every character that folds as one of them does.
CharSet FoldCase(const CharSet& chars);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHAR_CLASSES_H_
