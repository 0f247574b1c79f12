// How a pattern is read: what its flags are at the beginning, and what it stands in.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_OPTIONS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_OPTIONS_H_

#include <cstddef>
#include <string>

#include "grammar_core/frontend/regex/char_classes.h"

namespace maskd {

class PatternSyntaxMaker;

// A plain value; the default is a pattern that is the whole text of a grammar.
struct RegexOptions {
  // False: the whole text matches. True: some part of it does, as in JSON Schema's `pattern`.
  bool search = false;
  // Where the pattern stands, for errors (a JSON Pointer); empty: errors are at line:column of the
  // pattern itself.
  std::string place = {};
  // Flags that hold from the beginning: as (?i), (?s) and (?x) do. The last ignores white space and
  // comments (from # to the line's end) outside of classes.
  bool fold = false;
  bool dot_all = false;
  bool free_spacing = false;
  // What \d, \w, \s and the dot are. Word boundaries are refused where words are not WordChars().
  const Shorthands& shorthands = EcmaShorthands();
  // False: look-around is refused, as in a pattern that is a part of a longer one: all that it
  // could look at is not known.
  bool look_around = true;
  // Bytes before the pattern in the text given: a pattern that is a part of a longer source has its
  // errors at line:column of that source.
  std::size_t begin = 0;
  // Is told what the pattern consists of as it is read; null: nobody asks.
  PatternSyntaxMaker* syntax = nullptr;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_OPTIONS_H_
