// The accountant's figures and those of the process, as metrics.
#ifndef MASKD_SERVICE_GRAMMARS_MEMORY_FIGURES_H_
#define MASKD_SERVICE_GRAMMARS_MEMORY_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/single_flight.h"
#include "memory/accountant.h"
#include "memory/process_memory.h"
#include "metrics/figures.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {

// maskd_memory_*. Parts beside those that holders claim: "other", of the heap and claimed by
// nobody; "heap_idle"; "outside_heap"; "image", program and libraries.
std::vector<metrics::Figure> MemoryFigures(const memory::Accountant::Figures& figures,
                                           std::int64_t limit_bytes);

// About the grammars that somebody holds: how large the largest is, masks included, and how often
// one was renewed (rows/generations.h).
std::vector<metrics::Figure> GrammarFigures(const std::vector<cache::GrammarPtr>& grammars);

// For each tokenizer: its bytes, its store's, and how often that had a mask. Those past the first
// so many are "other" together.
inline constexpr std::size_t kMaxTokenizerLabels = 64;
std::vector<metrics::Figure> TokenizerFigures(const TokenizerStore& tokenizers);

// process_*.
std::vector<metrics::Figure> ProcessFigures(const memory::ProcessFigures& process);

// What of the log was not written.
std::vector<metrics::Figure> LogFigures(std::int64_t lines_dropped);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_MEMORY_FIGURES_H_
