// The places of rules: of gbnf, ebnf and lark.
//
// Errors   none. What is not followed exactly (conditions, intersections, negations) makes the
//          network approximate.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_NOTATION_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_NOTATION_PLACES_H_

#include <string>

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/places/place_network.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Adds the rules of `grammar`, whose text stands at `pointer`; gives the one that takes what its
// `start` takes. `ir` has the nodes that the grammar's expressions name. Keeps nothing of either.
PlaceNetwork::RuleNo AddNotation(const SourceGrammar& grammar, const GrammarIr& ir, SymbolId start,
                                 const std::string& pointer, PlaceNetwork& network);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_NOTATION_PLACES_H_
