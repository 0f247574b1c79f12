// The places of rules that are read from their text.
//
// Errors   none: what cannot be read has no places.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TEXT_RULES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TEXT_RULES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/places/place_network.h"

namespace maskd {

// Work to read a source for its places: a few hundred milliseconds, as a page waits for it.
inline constexpr std::int64_t kMostPlacesWork = 1'000'000;

// Adds rules of `kind` "gbnf", "ebnf" or "lark", whose `text` stands at `pointer`; gives the one
// that takes what the grammar does. Nothing where they cannot be read.
std::optional<PlaceNetwork::RuleNo> AddRules(absl::string_view kind, absl::string_view text,
                                             const GrammarOptions& options,
                                             const std::string& pointer, PlaceNetwork& network);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TEXT_RULES_H_
