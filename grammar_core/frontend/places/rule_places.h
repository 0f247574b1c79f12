// What of a grammar's source may come next behind a text of it, for every kind that has a source.
//
// Errors   none: what cannot be read has no places.
// Bounds   kMostSourceBytes of source, and those of the network.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_RULE_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_RULE_PLACES_H_

#include <cstddef>
#include <memory>

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/places/place_network.h"

namespace maskd {

inline constexpr std::size_t kMostSourceBytes = 2 << 20;

// Null for "choice", whose texts need no network, and kinds without a source; and for a text that
// is no grammar or takes too much work to read.
std::unique_ptr<const PlaceNetwork> ReadPlaces(const GrammarSource& source);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_RULE_PLACES_H_
