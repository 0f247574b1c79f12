// The places of a pattern: each character, class and escape in it.
//
// Exactness  groups, alternatives and counts are followed exactly, anchors and word boundaries up
//            to what is known of the text. A look-around is passed as if it held, and makes the
//            network approximate.
// Errors     none: what cannot be read has no places.
// Bounds     kMostPatternBytes of pattern.
// Threads    no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PATTERN_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PATTERN_PLACES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/places/place_network.h"
#include "grammar_core/frontend/regex/pattern_syntax.h"

namespace maskd {

inline constexpr std::size_t kMostPatternBytes = 32 << 10;

// Nothing where it is no pattern.
std::optional<PatternSyntax> ReadPatternSyntax(absl::string_view pattern);

// Adds a pattern, whose text stands at `pointer`; gives the rule that takes what it matches.
// `at_begin`: the text of the grammar begins with it.
PlaceNetwork::RuleNo AddPattern(const PatternSyntax& syntax, const std::string& pointer,
                                bool at_begin, PlaceNetwork& network);

// The network of a pattern that some part of a text matches, as a JSON Schema's `pattern` has it.
// Behind a match any text may stand: that is a part of the kind kMarker.
PlaceNetwork SearchNetwork(const PatternSyntax& syntax);

// Its look-arounds that stand in no other one, as pairs of the first byte and the one behind.
std::vector<std::pair<std::size_t, std::size_t>> LookAroundsOf(const PatternSyntax& syntax);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PATTERN_PLACES_H_
