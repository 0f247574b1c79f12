// The CPU applier beside its floors: its kernel called directly (peers.md B11), a plain fill of the
// same rows and a copy of the same bytes.
//
//   apply_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Arguments  vocab, rows of the batch (all masked), allowed per 10,000 tokens or ids of a list.
//            Time a row is the counter "row" (seconds); what is in cache (one row) and what streams
//            (64) differ much.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"

#include "client/apply/applier.h"
#include "client/apply/cpu_applier.h"
#include "client/apply/cpu_kernels.h"
#include "client/apply/element_type.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

struct NamedType {
  const char* name;
  LogitsType type;
  std::int64_t bytes;
};

constexpr std::array kTypes = {NamedType{"float32", LogitsType::kFloat32, 4},
                               NamedType{"bfloat16", LogitsType::kBFloat16, 2}};

const std::vector<std::int64_t> kVocabularies = {32'000, 128'256};
const std::vector<std::int64_t> kRowCounts = {1, 64};
const std::vector<std::int64_t> kAllowedPer10000 = {5, 5'000, 9'700, 9'990};

// Logits begin a cache line, as engines allocate them.
struct FreeDeleter {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Plane = std::unique_ptr<std::byte[], FreeDeleter>;

Plane MakePlane(std::int64_t bytes) {
  constexpr std::size_t kLine = 64;
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kLine - 1) / kLine * kLine;
  Plane plane(static_cast<std::byte*>(std::aligned_alloc(kLine, rounded)));
  std::memset(plane.get(), 0, rounded);
  return plane;
}

void ReportRows(benchmark::State& state, std::int64_t rows) {
  state.counters["row"] =
      benchmark::Counter(static_cast<double>(state.iterations() * rows),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::vector<std::int32_t> RandomMask(std::int64_t vocab_size, std::int64_t allowed_per_10000,
                                     std::mt19937_64& random) {
  std::vector<std::int32_t> words(static_cast<std::size_t>(MaskWordCount(vocab_size)));
  for (std::int64_t token = 0; token < vocab_size; ++token) {
    if (static_cast<std::int64_t>(random() % 10'000) >= allowed_per_10000) continue;
    words[static_cast<std::size_t>(token / 32)] |= static_cast<std::int32_t>(1U << (token % 32));
  }
  return words;
}

void BM_Apply(benchmark::State& state, const CpuKernel& kernel, const NamedType& type) {
  const std::int64_t vocab_size = state.range(0);
  const std::int64_t rows = state.range(1);
  const auto applier = MakeCpuApplierWithKernel(kernel.level);
  if (!applier.ok()) return state.SkipWithError(applier.status().ToString().c_str());
  const Plane plane = MakePlane(rows * vocab_size * type.bytes);
  std::mt19937_64 random(1);
  std::vector<std::vector<std::int32_t>> words;
  std::vector<MaskRow> masks;
  for (std::int64_t row = 0; row < rows; ++row) {
    words.push_back(RandomMask(vocab_size, state.range(2), random));
    masks.push_back(MaskRow::Dense(row, words.back()));
  }
  const Logits logits{.data = plane.get(),
                      .type = type.type,
                      .row_count = rows,
                      .width = vocab_size,
                      .row_stride = vocab_size};
  for (auto _ : state) {
    const absl::Status status =
        (*applier)->Apply({.vocab_size = vocab_size, .rows = masks}, logits);
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
    benchmark::ClobberMemory();
  }
  ReportRows(state, rows);
}

// The kernel alone on the same rows: what the applier adds to it should not be seen.
void BM_Kernel(benchmark::State& state, const CpuKernel& kernel, const NamedType& type) {
  const std::int64_t vocab_size = state.range(0);
  const std::int64_t rows = state.range(1);
  const std::int64_t row_bytes = vocab_size * type.bytes;
  const Plane plane = MakePlane(rows * row_bytes);
  std::mt19937_64 random(1);
  std::vector<std::vector<std::int32_t>> words;
  for (std::int64_t row = 0; row < rows; ++row)
    words.push_back(RandomMask(vocab_size, state.range(2), random));
  const RowKernel mask = type.bytes == 4 ? kernel.mask_32bit : kernel.mask_16bit;
  for (auto _ : state) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::byte* const elements = plane.get() + row * row_bytes;
      mask({.elements = elements,
            .source = elements,
            .words = words[static_cast<std::size_t>(row)].data(),
            .vocab_size = vocab_size,
            .width = vocab_size,
            .minus_infinity = ElementTypeOf(type.type).minus_infinity});
    }
    benchmark::ClobberMemory();
  }
  ReportRows(state, rows);
}

// The short forms: lists of ids, and a mask of the dictionary with some ids changed.
enum class Form { kAllowed, kForbidden, kDelta };

MaskRow RowOf(Form form, std::int64_t row, const std::vector<std::int32_t>& ids) {
  if (form == Form::kAllowed) return MaskRow::Allowed(row, ids);
  if (form == Form::kForbidden) return MaskRow::Forbidden(row, ids);
  return MaskRow::Delta(row, /*slot=*/0, ids);
}

std::vector<std::int32_t> SpreadIds(std::int64_t vocab_size, std::int64_t count) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<std::int32_t>((2 * i + 1) * vocab_size / (2 * count)));
  return ids;
}

void BM_Form(benchmark::State& state, Form form, const NamedType& type) {
  const std::int64_t vocab_size = state.range(0);
  const std::int64_t rows = state.range(1);
  const auto applier = MakeCpuApplier();
  const Plane plane = MakePlane(rows * vocab_size * type.bytes);
  const auto dictionary = (*applier)->MakeDictionary(vocab_size, 1);
  const auto set = (*dictionary)
                       ->Set(0, std::vector<std::int32_t>(
                                    static_cast<std::size_t>(MaskWordCount(vocab_size)), -1));
  if (!set.ok()) return state.SkipWithError(set.ToString().c_str());
  const std::vector<std::int32_t> ids = SpreadIds(vocab_size, state.range(2));
  std::vector<MaskRow> masks;
  for (std::int64_t row = 0; row < rows; ++row) masks.push_back(RowOf(form, row, ids));
  const Logits logits{.data = plane.get(),
                      .type = type.type,
                      .row_count = rows,
                      .width = vocab_size,
                      .row_stride = vocab_size};
  for (auto _ : state) {
    const absl::Status status = (*applier)->Apply(
        {.vocab_size = vocab_size, .rows = masks, .dictionary = dictionary->get()}, logits);
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
    benchmark::ClobberMemory();
  }
  ReportRows(state, rows);
}

// As many bytes written as a mask that allows nothing writes.
void BM_Fill(benchmark::State& state, const NamedType& type) {
  const std::int64_t bytes = state.range(0) * state.range(1) * type.bytes;
  const Plane plane = MakePlane(bytes);
  for (auto _ : state) {
    std::memset(plane.get(), 0xFF, static_cast<std::size_t>(bytes));
    benchmark::DoNotOptimize(plane.get());
    benchmark::ClobberMemory();
  }
  ReportRows(state, state.range(1));
}

void BM_Copy(benchmark::State& state, const NamedType& type) {
  const std::int64_t bytes = state.range(0) * state.range(1) * type.bytes;
  const Plane plane = MakePlane(bytes);
  const Plane other = MakePlane(bytes);
  for (auto _ : state) {
    std::memcpy(plane.get(), other.get(), static_cast<std::size_t>(bytes));
    benchmark::DoNotOptimize(plane.get());
    benchmark::ClobberMemory();
  }
  ReportRows(state, state.range(1));
}

void RegisterFloors() {
  for (const NamedType& type : kTypes) {
    benchmark::RegisterBenchmark((std::string("fill/") + type.name).c_str(), &BM_Fill, type)
        ->ArgNames({"vocab", "rows"})
        ->ArgsProduct({kVocabularies, kRowCounts});
    benchmark::RegisterBenchmark((std::string("copy/") + type.name).c_str(), &BM_Copy, type)
        ->ArgNames({"vocab", "rows"})
        ->ArgsProduct({kVocabularies, kRowCounts});
  }
}

void RegisterAppliers() {
  for (const CpuKernel* kernel : CpuKernels()) {
    if (!cpu::Supports(kernel->level)) continue;
    for (const NamedType& type : kTypes) {
      const std::string name = std::string(kernel->level) + "/" + type.name;
      benchmark::RegisterBenchmark(("apply/" + name).c_str(), &BM_Apply, *kernel, type)
          ->ArgNames({"vocab", "rows", "allowed"})
          ->ArgsProduct({kVocabularies, kRowCounts, kAllowedPer10000});
      benchmark::RegisterBenchmark(("kernel/" + name).c_str(), &BM_Kernel, *kernel, type)
          ->ArgNames({"vocab", "rows", "allowed"})
          ->ArgsProduct({kVocabularies, kRowCounts, kAllowedPer10000});
    }
  }
}

void RegisterForms() {
  constexpr std::array kForms = {std::pair{"allowed", Form::kAllowed},
                                 std::pair{"forbidden", Form::kForbidden},
                                 std::pair{"delta", Form::kDelta}};
  for (const auto& [form_name, form] : kForms) {
    for (const NamedType& type : kTypes) {
      const std::string name = std::string("form/") + form_name + "/" + type.name;
      benchmark::RegisterBenchmark(name.c_str(), &BM_Form, form, type)
          ->ArgNames({"vocab", "rows", "ids"})
          ->ArgsProduct({kVocabularies, kRowCounts, {16, 64, 128}});
    }
  }
}

}  // namespace
}  // namespace maskd::client

int main(int argc, char** argv) {
  maskd::client::RegisterFloors();
  maskd::client::RegisterAppliers();
  maskd::client::RegisterForms();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
