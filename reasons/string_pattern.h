// What a pattern says about a place in a string: which parts of it may come next.
//
// The pattern is a JSON Schema's: some part of the string matches it.
//
// Exactness  that of the pattern's network (pattern_places.h).
// Bounds     kMostPatternBytes of pattern.
// Threads    pure functions.
#ifndef MASKD_REASONS_STRING_PATTERN_H_
#define MASKD_REASONS_STRING_PATTERN_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/places/place_network.h"
#include "reasons/json_position.h"
#include "reasons/viable_parts.h"

namespace maskd::reasons {

// Parts of a pattern, by their bytes in it.
struct PatternSays {
  // What it says about a place.
  enum class What : std::uint8_t {
    kNothing,  // what stands there matches already, or cannot match: another branch holds
    kWhole,    // the string may end there and not go on, or parts are not known
    kParts,    // these may come next
  };

  What what = What::kWhole;
  std::vector<NextPart> parts = {};  // of kParts, in the order of the pattern
};

PatternSays WhatPatternSays(absl::string_view pattern, const OpenString& string,
                            ViableParts& viable);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_STRING_PATTERN_H_
