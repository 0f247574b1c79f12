// The places of a structural tag: its markers, and what stands between them.
//
// Exactness  free text ends where its tag does, as in the grammar (format_compiler.h). Special
//            tokens are followed by their spelling. Values that are not written as JSON are any
//            text up to their tag's end, and make the network approximate.
// Errors     none: what cannot be read has no places.
// Threads    no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TAG_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TAG_PLACES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/places/place_network.h"
#include "grammar_core/frontend/structural_tag/format.h"

namespace maskd {

// The pointer of a format's member `key` in the source; "" for the format itself.
using PlaceOfFormat = std::function<std::string(const TagFormat& format, absl::string_view key)>;

// Adds the formats, whose first is the whole; gives the rule of that. Nothing where the network has
// no room for them.
std::optional<PlaceNetwork::RuleNo> AddFormats(const std::vector<TagFormat>& formats,
                                               const PlaceOfFormat& place_of,
                                               PlaceNetwork& network);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_TAG_PLACES_H_
