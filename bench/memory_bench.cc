// What grammars and matchers hold: resident memory of this process, before and after, everything
// kept.
//
//   memory_bench --cases ../shared/maskbench/open.jsonl.gz --tokenizer build/vocab/llama3.tiktoken
//
// compiled   each schema compiled, its first mask made.
// used       each valid instance taken through its masks: states and masks that it needed are kept.
//            A token of the first one is in states that were not met before: what it adds to the
//            grammar's count, and to that and the masks of all grammars together, of which most are
//            there already.
// matchers   --matchers more of them, spread over the grammars, each having taken an instance.
// Growth is the process's: allocator and stores included, freed pages given back before each
// reading. The stores' own count is printed beside.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include <unistd.h>

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/samples.h"
#include "grammar_core/automaton/automaton_size.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/masked_automaton.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, sample, 0, "Only the schemas with the smallest SHA-256 of their id; 0 means all.");
ABSL_FLAG(int, matchers, 20'000, "Matchers that are made in the end.");

namespace maskd::bench {
namespace {

double ResidentKib() {
  ReturnFreePages();
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second field is resident
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

struct Used {
  const Case* one;
  std::shared_ptr<const CompiledGrammar> grammar;
};

void PrintGrowth(const char* what, double kib, std::size_t count, const TokenizerSpace& space) {
  const MaskStore::Stats stats = space.masks().stats();
  const double stored = static_cast<double>(stats.held_bytes) / 1024;
  std::printf(
      "%-9s %7zu  growth %8.1f MiB, %8.2f KiB each; stores %7.1f MiB, %lld masks, %lld keys\n",
      what, count, kib / 1024, kib / static_cast<double>(count), stored / 1024,
      static_cast<long long>(stats.masks), static_cast<long long>(stats.keys));
}

// What a grammar counts, the masks that it keeps alive included.
double OwnBytes(const CompiledGrammar& grammar) {
  const GrammarCosts costs = grammar.costs();
  return static_cast<double>(costs.held_bytes + costs.mask_bytes);
}

// The same with each mask once, however many grammars keep it.
double SharedBytes(const CompiledGrammar& grammar) {
  return static_cast<double>(grammar.costs().held_bytes + StoredMaskBytes());
}

void PrintOwnCounts(const std::vector<Used>& grammars) {
  std::vector<double> kib;
  for (const Used& used : grammars) kib.push_back(OwnBytes(*used.grammar) / 1024);
  std::printf("          a grammar's own count, KiB: p50 %.1f, p90 %.1f, p99 %.1f, max %.1f\n",
              Percentile(kib, 50), Percentile(kib, 90), Percentile(kib, 99), Percentile(kib, 100));
  double held = 0;
  for (const Used& used : grammars) held += static_cast<double>(used.grammar->costs().held_bytes);
  std::printf("          of all together without masks, MiB: %.1f\n", held / 1024 / 1024);
}

// Bytes by kind, and of all kinds.
struct Parts {
  std::map<std::string, double> by_kind;
  double all = 0;
};

Parts PartsOf(const CompiledGrammar& grammar) {
  Parts parts;
  const auto automaton = grammar.automaton();
  for (const HeldPart& part : AutomatonSize(*automaton).parts())
    parts.by_kind[part.name] = static_cast<double>(part.bytes);
  parts.by_kind["masks"] = static_cast<double>(StoredMaskBytes());
  for (const auto& [kind, bytes] : parts.by_kind) parts.all += bytes;
  return parts;
}

// What came for each token.
Parts GrownBy(Parts parts, const Parts& before, double tokens) {
  for (auto& [kind, bytes] : parts.by_kind) bytes = (bytes - before.by_kind.at(kind)) / tokens;
  parts.all = (parts.all - before.all) / tokens;
  return parts;
}

// Medians of kinds do not add up; their means over the fifth of the grammars around the median do.
void PrintParts(std::vector<Parts> grown) {
  std::ranges::sort(grown, {}, &Parts::all);
  const std::size_t fifth = grown.size() / 5;
  const std::span<const Parts> middle(grown.data() + 2 * fifth, std::max<std::size_t>(fifth, 1));
  for (const auto& [kind, unused] : grown.front().by_kind) {
    std::vector<double> bytes;
    for (const Parts& parts : grown) bytes.push_back(parts.by_kind.at(kind));
    double mean = 0;
    for (const Parts& parts : middle)
      mean += parts.by_kind.at(kind) / static_cast<double>(middle.size());
    std::printf("            %-32s p50 %5.0f, p90 %5.0f; in the middle fifth %5.0f\n", kind.c_str(),
                Percentile(bytes, 50), Percentile(bytes, 90), mean);
  }
}

// Takes the valid instances of all grammars; of the first one of each the bytes a token that it
// adds.
void UseAll(const std::vector<Used>& grammars) {
  std::vector<double> bytes;
  std::vector<double> all_bytes;
  std::vector<Parts> grown;
  for (const Used& used : grammars) {
    bool is_first = true;
    for (const Instance& instance : used.one->tests) {
      if (!instance.valid || instance.tokens.empty()) continue;
      const double before = OwnBytes(*used.grammar);
      const double all_before = SharedBytes(*used.grammar);
      const Parts before_parts = PartsOf(*used.grammar);
      TakeDocument(used.grammar, instance.tokens);
      if (!std::exchange(is_first, false)) continue;
      const auto tokens = static_cast<double>(instance.tokens.size());
      grown.push_back(GrownBy(PartsOf(*used.grammar), before_parts, tokens));
      bytes.push_back((OwnBytes(*used.grammar) - before) / tokens);
      all_bytes.push_back((SharedBytes(*used.grammar) - all_before) / tokens);
    }
  }
  const auto print = [](const char* what, const std::vector<double>& of) {
    std::printf("          a token in new states, %s, bytes: p50 %.0f, p90 %.0f, p99 %.0f\n", what,
                Percentile(of, 50), Percentile(of, 90), Percentile(of, 99));
  };
  print("each mask counted for each grammar", bytes);
  print("each mask counted once", all_bytes);
  PrintParts(std::move(grown));
}

// The first valid instance, or null.
const Instance* FirstValid(const Case& one) {
  const auto found = std::ranges::find_if(one.tests, &Instance::valid);
  return found == one.tests.end() ? nullptr : &*found;
}

absl::Status Run() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) return vocabulary.status();
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  const auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = absl::GetFlag(FLAGS_sample)});
  if (!cases.ok()) return cases.status();

  const double before = ResidentKib();
  std::vector<Used> grammars;
  for (const Case& one : *cases) {
    auto grammar = CompileForBench({"json_schema", one.schema, {}}, space);
    if (grammar.ok()) grammars.push_back({&one, *std::move(grammar)});
  }
  if (grammars.empty()) return absl::NotFoundError("no schema compiles");
  const double compiled = ResidentKib();
  std::printf("%zu of %zu schemas compile\n", grammars.size(), cases->size());
  PrintGrowth("compiled", compiled - before, grammars.size(), *space);
  PrintOwnCounts(grammars);

  UseAll(grammars);
  PrintGrowth("used", ResidentKib() - before, grammars.size(), *space);
  PrintOwnCounts(grammars);

  std::vector<Matcher> matchers;
  matchers.reserve(static_cast<std::size_t>(absl::GetFlag(FLAGS_matchers)));
  const double without = ResidentKib();
  std::size_t tokens = 0;
  for (std::size_t i = 0; matchers.size() < matchers.capacity(); ++i) {
    const Used& used = grammars[i % grammars.size()];
    const Instance* instance = FirstValid(*used.one);
    matchers.emplace_back(used.grammar);
    if (instance == nullptr) continue;
    for (const TokenId token : instance->tokens) tokens += matchers.back().Accept(token).ok();
  }
  PrintGrowth("matchers", ResidentKib() - without, matchers.size(), *space);
  std::printf("          tokens taken by a matcher on average: %.1f\n",
              static_cast<double>(tokens) / static_cast<double>(matchers.size()));
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("What grammars and matchers hold; see bench/memory_bench.cc.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "memory_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
