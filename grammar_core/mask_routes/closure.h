// A closed set of states: characters that lead from one of them to another, whatever their order.
// From a state s, FindClosure looks for a set C of characters and a length n so that every string
// over C of at most n characters can be taken from s. All tokens that are such strings are then
// allowed. Any other token begins with characters of C, at most n or more, and goes on with a byte
// outside of C. If no state of the set takes that byte, the token is refused. So only the tokens
// named by `candidates` need a walk. They hold a byte outside of C that some state takes, or are
// cut within a character. Tokens longer than n are among them where it is not known what follows n
// characters.
//
// Characters beyond ASCII are in C together, or all but the spaces among them, which `.` and \S
// leave out.
// The choice of C is greedy. A state may refuse most of C. If few bytes lead to it (a quote, a
// backslash), those bytes leave C. If most of C leads to it, as at the end of a counter, n is the
// length at which that happens. Any choice is exact; a poor one only leaves more candidates.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_CLOSURE_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_CLOSURE_H_

#include <cstdint>
#include <optional>

#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/terms/term.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

class Automaton;

// A set of characters, how many of them may come, and which tokens must be walked beside them.
struct Closure {
  CharacterClass characters;
  CandidateClass candidates;
  std::uint32_t lowest_floor = kNoEnd;  // of the states stepped from
};

// Both are meaningless when `work` failed.

// By a search of the states behind `state`. No token has more bytes than `longest`.
Closure FindClosure(Automaton* automaton, TermId state, int longest, Work& work);

// By the form of the term, for a repeat of one set of characters, less some strings: free strings,
// strings of bounded length, undeclared names. Nothing for other states. Looks at two states only.
std::optional<Closure> FindStructuralClosure(Automaton* automaton, TermId state, Work& work);

// The repeat of one set of characters that `state` begins with, inside of a JSON string of either
// spelling and between two characters; or null.
const Term* FreeString(const TermStore& store, TermId state);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_CLOSURE_H_
