// Terms as text, for people: failed assertions, debuggers, golden tests.
//
//   Cat("ab", Repeat)     b"ab" . b[0-9]{1,3}
//   Alt, And, Not         (x | y), (x & y), !x
//   Encode                json([a-z]*), within a character json@escape([a-z]*), a name
//                         json([a-z]*):object 2
//   Call                  rule "start", at depth 3 rule "start"@3
//   TextSet               {"ab", "cd"}, behind one character {"b"}
//
// Length   a term within more than kMaxDepth others is "...", and so is what exceeds kMaxBytes.
// Threads  reads the store alone; that may grow meanwhile.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_PRINTER_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_PRINTER_H_

#include <string>

#include "grammar_core/terms/term_store.h"

namespace maskd {

// `id` may be kUnknownTerm or kFailedTerm too.
std::string PrintTerm(const TermStore& store, AnyTerm id);
inline std::string PrintTerm(const TermStore& store, TermId id) {
  return PrintTerm(store, AnyTerm(id));
}
inline std::string PrintTerm(const TermStore& store, CharTerm id) {
  return PrintTerm(store, AnyTerm(id));
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_PRINTER_H_
