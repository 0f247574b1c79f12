#include "service/memory_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "grammar_core/compile/compiled_grammar.h"

namespace maskd::service {
namespace {

using metrics::Figure;

template <typename Values, typename Names>
void AddEach(const metrics::MetricName& name, Figure::Type type, const char* label,
             const Values& values, const Names& names, std::vector<Figure>* all) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    all->push_back({.name = name,
                    .type = type,
                    .value = static_cast<double>(values[i]),
                    .label = label,
                    .label_value = names[i]});
  }
}

void AddPart(const char* part, std::int64_t bytes, std::vector<Figure>* all) {
  all->push_back({.name = metrics::kMemoryBytes,
                  .value = static_cast<double>(bytes),
                  .label = "part",
                  .label_value = part});
}

}  // namespace

std::vector<Figure> MemoryFigures(const memory::Accountant::Figures& figures,
                                  std::int64_t limit_bytes) {
  constexpr auto kCounter = Figure::Type::kCounter;
  std::vector<Figure> all;
  AddEach(metrics::kMemoryBytes, Figure::Type::kGauge, "part", figures.held, memory::kPartNames,
          &all);
  AddPart("other", figures.unclaimed(), &all);
  AddPart("heap_idle", figures.heap_idle(), &all);
  AddPart("outside_heap", figures.outside_heap(), &all);
  AddPart("image", figures.process.file, &all);
  all.push_back({.name = metrics::kMemoryLimitBytes, .value = static_cast<double>(limit_bytes)});
  AddEach(metrics::kMemoryRefusedTotal, kCounter, "mark", figures.refusals, memory::kMarkNames,
          &all);
  AddEach(metrics::kMemoryWaitsTotal, kCounter, "mark", figures.waits, memory::kMarkNames, &all);
  AddEach(metrics::kMemoryShrinksTotal, kCounter, "part", figures.shrinks, memory::kPartNames,
          &all);
  return all;
}

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

}  // namespace maskd::service
