// How many characters a text may still need, wherever in it one stops: the greatest of the shortest
// completions.
//
// Units    characters.
// Threads  reads the store only.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_MOST_CHARS_NEEDED_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_MOST_CHARS_NEEDED_H_

#include <cstdint>
#include <optional>

#include "grammar_core/terms/term_store.h"

namespace maskd {

// An upper bound: behind no beginning of a string of `id` are more characters needed for its end.
// Nothing where that is not plain to see.
std::optional<std::uint32_t> MostCharsNeeded(const TermStore& store, CharTerm id);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_MOST_CHARS_NEEDED_H_
