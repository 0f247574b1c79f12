// Where in a grammar's source the rule stands that speaks about a place in a text.
//
// Cost     one reading of the source and one walk of the text; it is for a text that was refused.
// Threads  no state; any thread.
#ifndef MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_
#define MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"

#include "cache/single_flight.h"

namespace maskd::service {

// A JSON Pointer or line:column; empty where none is known. `taken` is a beginning of a text of
// the grammar.
std::string RulePlaceBehind(const cache::GrammarPtr& grammar, absl::string_view taken);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_
