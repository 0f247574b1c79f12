// Figures are read when a scrape asks, from counters that the parts keep themselves and from /proc:
// nothing is sampled in between.
#include "service/grammars/memory_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/mask_store.h"

namespace maskd::service {
namespace {

using metrics::Figure;

void Add(const metrics::MetricName& name, Figure::Type type, const char* label,
         const char* label_value, std::int64_t value, std::vector<Figure>* all) {
  all->push_back({.name = name,
                  .type = type,
                  .value = static_cast<double>(value),
                  .label = label,
                  .label_value = label_value});
}

void AddPart(const char* part, std::int64_t bytes, std::vector<Figure>* all) {
  Add(metrics::kMemoryBytes, Figure::Type::kGauge, "part", part, bytes, all);
}

}  // namespace

std::vector<Figure> MemoryFigures(const memory::Accountant::Figures& figures,
                                  std::int64_t limit_bytes) {
  std::vector<Figure> all;
  for (std::size_t i = 0; i < figures.held.size(); ++i)
    AddPart(memory::kPartNames[i], figures.held[i], &all);
  AddPart("other", figures.unclaimed(), &all);
  AddPart("heap_idle", figures.heap_idle(), &all);
  AddPart("outside_heap", figures.outside_heap(), &all);
  AddPart("image", figures.process.file, &all);
  all.push_back({.name = metrics::kMemoryLimitBytes, .value = static_cast<double>(limit_bytes)});
  for (const auto& [name, counts] : {std::pair(metrics::kMemoryRefusedTotal, figures.refusals),
                                     std::pair(metrics::kMemoryWaitsTotal, figures.waits)}) {
    for (const memory::Mark mark : {memory::Mark::kHigh, memory::Mark::kHeap}) {
      Add(name, Figure::Type::kCounter, "mark", memory::kMarkNames[static_cast<std::size_t>(mark)],
          counts[static_cast<std::size_t>(mark)], &all);
    }
  }
  for (const memory::Part part : memory::kShrinkOrder) {
    Add(metrics::kMemoryShrinksTotal, Figure::Type::kCounter, "part", memory::NameOf(part),
        figures.shrinks[static_cast<std::size_t>(part)], &all);
  }
  return all;
}

// The largest one, as a grammar that grows without end would be lost in the sum over all.
std::vector<Figure> GrammarFigures(const std::vector<cache::GrammarPtr>& grammars) {
  std::int64_t fullest = 0;
  for (const cache::GrammarPtr& grammar : grammars) {
    const GrammarCosts costs = grammar->costs();
    fullest = std::max(fullest, costs.held_bytes + costs.mask_bytes);
  }
  return {
      {.name = metrics::kFullestGrammarBytes, .value = static_cast<double>(fullest)},
      {.name = metrics::kGenerationsRenewedTotal,
       .type = Figure::Type::kCounter,
       .value = static_cast<double>(CompiledGrammar::TotalRenewals())},
  };
}

// A label has a bounded number of values: tokenizers beyond are one figure together.
std::vector<Figure> TokenizerFigures(const TokenizerStore& tokenizers) {
  struct Row {
    std::string name;
    std::int64_t vocabulary = 0;
    MaskStore::Stats store;
    SchemaStore::Stats schemas;
  };
  std::vector<Row> rows;
  for (const LoadedTokenizer& tokenizer : tokenizers.all()) {
    if (rows.size() <= kMaxTokenizerLabels)
      rows.push_back({rows.size() < kMaxTokenizerLabels ? tokenizer.name() : "other", 0, {}, {}});
    Row& row = rows.back();
    const MaskStore::Stats store = tokenizer.space()->masks().stats();
    row.vocabulary += tokenizer.space()->held_bytes();
    row.store.held_bytes += store.held_bytes;
    row.store.hits += store.hits;
    row.store.misses += store.misses;
    const SchemaStore::Stats schemas = tokenizer.space()->schemas().stats();
    row.schemas.held_bytes += schemas.held_bytes;
    row.schemas.hits += schemas.hits;
    row.schemas.misses += schemas.misses;
  }
  std::vector<Figure> all;
  const auto add = [&](const metrics::MetricName& name, Figure::Type type, const auto& value_of) {
    for (const Row& row : rows)
      all.push_back({.name = name,
                     .type = type,
                     .value = static_cast<double>(value_of(row)),
                     .label = "tokenizer",
                     .label_value = row.name});
  };
  using enum Figure::Type;
  add(metrics::kTokenizerBytes, kGauge, [](const Row& row) { return row.vocabulary; });
  add(metrics::kMaskStoreBytes, kGauge, [](const Row& row) { return row.store.held_bytes; });
  add(metrics::kMaskStoreHitsTotal, kCounter, [](const Row& row) { return row.store.hits; });
  add(metrics::kMaskStoreMissesTotal, kCounter, [](const Row& row) { return row.store.misses; });
  add(metrics::kSchemaStoreBytes, kGauge, [](const Row& row) { return row.schemas.held_bytes; });
  add(metrics::kSchemaStoreHitsTotal, kCounter, [](const Row& row) { return row.schemas.hits; });
  add(metrics::kSchemaStoreMissesTotal, kCounter,
      [](const Row& row) { return row.schemas.misses; });
  return all;
}

std::vector<Figure> ProcessFigures(const memory::ProcessFigures& process) {
  const auto gauge = [](const metrics::MetricName& name, auto value) {
    return Figure{.name = name, .value = static_cast<double>(value)};
  };
  return {
      gauge(metrics::kProcessResidentBytes, process.resident_bytes),
      gauge(metrics::kProcessVirtualBytes, process.virtual_bytes),
      {.name = metrics::kProcessCpuSeconds,
       .type = Figure::Type::kCounter,
       .value = process.cpu_seconds},
      gauge(metrics::kProcessOpenFds, process.open_fds),
      gauge(metrics::kProcessMaxFds, process.max_fds),
      gauge(metrics::kProcessStartTime, process.start_seconds),
      gauge(metrics::kProcessThreads, process.threads),
  };
}

std::vector<Figure> LogFigures(std::int64_t lines_dropped) {
  return {{.name = metrics::kLogLinesDroppedTotal,
           .type = Figure::Type::kCounter,
           .value = static_cast<double>(lines_dropped)}};
}

}  // namespace maskd::service
