// The kernels over packed words beside their floors: a copy and a comparison of as many bytes, and
// what a hash of them costs.
//
//   kernels_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Argument  words of one mask: 1000 (32,000 tokens), 4008 (128,256), 6284 (201,088). All is in
//           cache, as masks are that have just been made or looked at.
// Time      one mask.
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"

#include "cpu/level.h"
#include "grammar_core/mask/bit_words.h"
#include "grammar_core/mask/word_kernels.h"

namespace maskd {
namespace {

using Words = std::vector<std::int32_t>;

Words RandomWords(std::int64_t count) {
  std::mt19937_64 random(1);
  Words words(static_cast<std::size_t>(count));
  for (std::int32_t& word : words) word = static_cast<std::int32_t>(random());
  return words;
}

void ReportBytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

void BM_Combine(benchmark::State& state, WordsIntoWords kernel) {
  Words into = RandomWords(state.range(0));
  const Words words = into;
  for (auto _ : state) {
    kernel(into.data(), words.data(), words.size());
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

void BM_Count(benchmark::State& state, const WordKernels& kernels) {
  const Words words = RandomWords(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels.count_bits(words.data(), words.size()));
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

// Of words that are all zero: the longest search.
void BM_Find(benchmark::State& state, const WordKernels& kernels) {
  const Words words(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels.find_nonzero(words.data(), words.size()));
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

void BM_Copy(benchmark::State& state) {
  Words into = RandomWords(state.range(0));
  const Words words = into;
  for (auto _ : state) {
    std::memcpy(into.data(), words.data(), words.size() * sizeof(words[0]));
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

void BM_Compare(benchmark::State& state) {
  const Words one = RandomWords(state.range(0));
  const Words other = one;
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::memcmp(one.data(), other.data(), one.size() * sizeof(one[0])));
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

void BM_Hash(benchmark::State& state) {
  const Words words = RandomWords(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(HashWords(words));
    benchmark::ClobberMemory();
  }
  ReportBytes(state);
}

void AtAllSizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("words")->Arg(1000)->Arg(4008)->Arg(6284);
}

template <typename Function, typename Argument>
void Register(absl::string_view name, absl::string_view level, Function function,
              Argument argument) {
  const std::string full_name = std::string(name) + "/" + std::string(level);
  AtAllSizes(benchmark::RegisterBenchmark(full_name.c_str(), function, argument));
}

void RegisterAll() {
  AtAllSizes(benchmark::RegisterBenchmark("copy/memcpy", &BM_Copy));
  AtAllSizes(benchmark::RegisterBenchmark("compare/memcmp", &BM_Compare));
  AtAllSizes(benchmark::RegisterBenchmark("hash/portable", &BM_Hash));
  for (const WordKernels* kernels : AllWordKernels()) {
    if (!cpu::Supports(kernels->level)) continue;
    Register("or", kernels->level, &BM_Combine, kernels->or_into);
    Register("and_not", kernels->level, &BM_Combine, kernels->and_not_into);
    Register("count", kernels->level, &BM_Count, std::cref(*kernels));
    Register("find", kernels->level, &BM_Find, std::cref(*kernels));
  }
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  maskd::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
