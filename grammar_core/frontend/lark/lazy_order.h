// Lazy terminals come first: where one may begin, no other terminal goes on past its first match.
//
//   start: (call | TEXT)*
//   call: head "=1>"
//   head[lazy]: TEXT "<f"          after "<f" must come "=1>": TEXT may not hold "<f" here
//
// llguidance and Lark's lexers look at all terminals that may come at a place together, and a lazy
// one that matches ends the look. Here there is no lexer, so it is said by the terminals: each is
// held to its texts that do not begin with one of the lazy ones beside it; a lazy one to those that
// do not begin with a shorter text of another.
//
// Beside   which terminals may come at one place is found as by the positions of a regular
//          expression (Glushkov 1961), for each call of a rule by itself. Where rules come back to
//          themselves, what follows one such call is taken to follow all. What follows equal
//          terminals of one place may come together.
// Errors   UNIMPLEMENTED at a terminal's place: it stands beside different lazy terminals, or none,
//          at different places; or beside a lazy one stands what is no terminal (%json, %lark, a
//          parameter). Nothing is loosened. RESOURCE_EXHAUSTED: rule_instances, for calls and
//          places; the budget's work.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_ORDER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_ORDER_H_

#include "absl/status/status.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Replaces the definitions that this changes. `grammar` is whole: each name has its definition.
absl::Status PutLazyFirst(SymbolId start, SourceReading& reading, SourceGrammar& grammar);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_ORDER_H_
