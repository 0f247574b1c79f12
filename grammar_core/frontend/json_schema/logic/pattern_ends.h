// The plain characters that every match of a pattern begins and ends with, as far as they show:
// enough to tell that no name matches both of most pairs that schemas have.
//
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_PATTERN_ENDS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_PATTERN_ENDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// Found by a look at the first and last characters of the pattern's text, which is not parsed.
struct PatternEnds {
  std::string prefix;  // of "^abc...": abc
  std::string suffix;  // of "...abc$": abc
};

// Empty where it is not sure.
PatternEnds EndsOf(absl::string_view pattern);

// Whether no text has the ends of both.
bool AreDisjoint(const PatternEnds& x, const PatternEnds& y);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_PATTERN_ENDS_H_
