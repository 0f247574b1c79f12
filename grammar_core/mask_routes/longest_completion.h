// How much a text of characters may still need, wherever in it one stops.
//
// Units    characters.
// Threads  reads the store only.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_LONGEST_COMPLETION_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_LONGEST_COMPLETION_H_

#include <cstdint>
#include <optional>

#include "grammar_core/terms/term_store.h"

namespace maskd {

// No derivative of `id` needs more characters to its end; nothing where that is not plain to see.
std::optional<std::uint32_t> LongestCompletion(const TermStore& store, TermId id);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_LONGEST_COMPLETION_H_
