// Two simpler terms around one of characters that counts, as `(\S+\s+){0,93}`.
//
// Counts that leave room for many more repeats are cut to a small room in the one, and lifted
// altogether in the other. A language grows with its counts, and the tokens that it allows grow
// with it. So only a token that the one refuses and the other allows has to be tried on the term
// between them: whatever its counts are, it shares their masks. Below a Not nothing is changed.
//
// Cost     kMaxVisits terms at most.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_COUNT_BOUNDS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_COUNT_BOUNDS_H_

#include <optional>

#include "grammar_core/terms/term_store.h"

namespace maskd {

// Two terms of characters around a third one.
struct CountBounds {
  CharTerm fewer;  // its strings are strings of the term
  CharTerm more;   // the term's strings are strings of it
};

// Nothing for a term without such counts, or one too large.
std::optional<CountBounds> BoundCounts(TermStore* store, CharTerm characters);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_COUNT_BOUNDS_H_
