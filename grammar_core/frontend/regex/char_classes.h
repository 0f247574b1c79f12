// The named sets of characters of a pattern: \d \w \s, the dot, [:alpha:], \p{...}; case folding.
//
// Source   \d, \w, \s and the dot: ECMA-262 (CharacterClassEscape, LineTerminator). [:alpha:] and
//          its like: RE2. \p{...}: unicode_tables.h. Folding: Unicode's simple case folding.
// Threads  no state that changes; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHAR_CLASSES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHAR_CLASSES_H_

#include <optional>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"

namespace maskd {

// 0-9.
const CharSet& DigitChars();
// A-Z a-z 0-9 _.
const CharSet& WordChars();
// White space and line terminators of ECMA-262.
const CharSet& SpaceChars();
// Everything but the line terminators of ECMA-262: LF, CR, U+2028, U+2029.
const CharSet& DotChars();

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
