// What of a grammar's text may come next behind a text of it: for the kinds that are rules, which
// are gbnf, ebnf and lark.
//
// Errors   none: what cannot be read has no parts.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_RULE_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_RULE_PLACES_H_

#include <memory>

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/notation/next_parts.h"

namespace maskd {

// Null for other kinds, and for a text that is no grammar or takes too much work to read.
std::unique_ptr<const NextParts> ReadNextParts(const GrammarSource& source);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_RULE_PLACES_H_
