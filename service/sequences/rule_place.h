// Where in a grammar's source the rule stands that speaks about a place in a text.
//
// Cost     one reading of the source and one walk of the text; it is for a text that was refused.
// Threads  no state; any thread.
#ifndef MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_
#define MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

#include "cache/single_flight.h"

namespace maskd::service {

// A rule of a source, or a part of one.
struct RulePlace {
  std::string place = {};  // a JSON Pointer or line:column; empty: none is known
  std::size_t begin = 0;   // its bytes in the source; `end` is 0 where they are not known
  std::size_t end = 0;
};

// `taken` is a beginning of a text of the grammar.
RulePlace RulePlaceBehind(const cache::GrammarPtr& grammar, absl::string_view taken);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_RULE_PLACE_H_
