// maskctl bench: what compiles and steps cost at a server. The schemas are compiled once each and
// sorted by whether the server knew them; then each batch decodes over the one stream, with rows
// and steps as asked for.
//
// Invariant  the same seed draws the same tokens from the same masks.
// Cost       one compile for each schema; a batch is its steps, with nothing between two.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

#include "tools/cli/bench/step_bench.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/simulate/report.h"

namespace maskd::cli {
namespace {

constexpr int kMaxRows = 4096;
constexpr absl::Duration kCloseTimeout = absl::Seconds(10);

// Milliseconds of Compile(), of grammars that the server did not know and of those that it knew.
struct Compiles {
  std::vector<std::string> ids;
  std::vector<double> new_ms;
  std::vector<double> known_ms;
};

struct Batch {
  int rows = 0;
  std::vector<double> step_us;
  double masks_per_s = 0;
};

std::vector<Flag> BenchFlags() {
  return WithConnectionFlags(WithGrammarFlags({
      {"schemas", "DIRECTORY", "where the schemas are, when no SCHEMA is named",
       "examples/schemas"},
      {"rows", "COUNT[,COUNT...]", "rows of a step, one batch after the other", "1,8,32"},
      {"steps", "COUNT", "steps of each batch", "1000"},
      {"seed", "NUMBER", "of the tokens that are drawn", "1"},
  }));
}

absl::StatusOr<std::vector<int>> RowCounts(const Flags& flags) {
  std::vector<int> counts;
  for (const absl::string_view word : absl::StrSplit(flags.Get("rows"), ',')) {
    int count = 0;
    if (!absl::SimpleAtoi(word, &count) || count < 1 || count > kMaxRows)
      return UsageError(
          absl::StrCat("--rows: \"", word, "\" is not a number from 1 to ", kMaxRows));
    counts.push_back(count);
  }
  return counts;
}

absl::StatusOr<Compiles> CompileAll(const Connection& connection, const Flags& flags) {
  const auto files = GrammarFiles(flags);
  if (!files.ok()) return files.status();
  Compiles compiles;
  for (const std::string& file : *files) {
    v1::CompileRequest request;
    request.set_tokenizer(connection.tokenizer());
    auto grammar = ReadGrammarFile(file, flags);
    if (!grammar.ok()) return grammar.status();
    *request.mutable_grammar() = *std::move(grammar);
    const absl::Time begin = absl::Now();
    const auto compiled = connection.client().Compile(request);
    if (!compiled.ok()) return compiled.status();
    auto& of_kind = compiled->from_cache() ? compiles.known_ms : compiles.new_ms;
    of_kind.push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
    compiles.ids.push_back(compiled->grammar_id());
  }
  return compiles;
}

absl::StatusOr<std::vector<Batch>> RunBatches(const Connection& connection,
                                              const std::vector<std::string>& ids,
                                              const std::vector<int>& row_counts, int steps,
                                              std::uint64_t seed) {
  const auto tokenizer = connection.client().GetTokenizer(connection.tokenizer());
  if (!tokenizer.ok()) return tokenizer.status();
  const auto stream = connection.client().OpenStream(
      {.tokenizer = connection.tokenizer(),
       .logits_width = static_cast<std::uint32_t>(tokenizer->vocab_size())});
  if (!stream.ok()) return stream.status();
  StepBench bench(**stream, ids, seed);
  std::vector<Batch> batches;
  for (const int rows : row_counts) {
    if (absl::Status status = bench.Run(rows, steps); !status.ok()) return status;
    double seconds = 0;
    for (const double us : bench.step_us()) seconds += us / 1e6;
    batches.push_back({rows, bench.step_us(), static_cast<double>(bench.mask_count()) / seconds});
  }
  if (absl::Status status = (*stream)->Close(kCloseTimeout); !status.ok()) return status;
  return batches;
}

std::string CompilesText(absl::string_view what, const std::vector<double>& ms) {
  if (ms.empty()) return "";
  return absl::StrFormat("%-12s %7d %9.3f %9.3f %9.3f\n", what, ms.size(), Percentile(ms, 0.5),
                         Percentile(ms, 0.99), Percentile(ms, 1));
}

std::string Text(const Compiles& compiles, const std::vector<Batch>& batches) {
  std::string text =
      absl::StrFormat("%-12s %7s %9s %9s %9s\n", "COMPILES, ms", "COUNT", "P50", "P99", "MAX");
  absl::StrAppend(&text, CompilesText("new", compiles.new_ms),
                  CompilesText("known", compiles.known_ms));
  absl::StrAppendFormat(&text, "\n%-12s %7s %9s %9s %9s %12s\n", "STEPS, us", "ROWS", "P50", "P99",
                        "MAX", "MASKS A S");
  for (const Batch& batch : batches) {
    absl::StrAppendFormat(&text, "%-12d %7d %9.1f %9.1f %9.1f %12.0f\n", batch.step_us.size(),
                          batch.rows, Percentile(batch.step_us, 0.5),
                          Percentile(batch.step_us, 0.99), Percentile(batch.step_us, 1),
                          batch.masks_per_s);
  }
  return text;
}

std::string JsonOf(const Compiles& compiles, const std::vector<Batch>& batches) {
  using Json = nlohmann::ordered_json;
  const auto percentiles = [](const std::vector<double>& values, const std::string& unit) {
    Json json = {{"count", values.size()}};
    if (values.empty()) return json;
    json["p50_" + unit] = Percentile(values, 0.5);
    json["p99_" + unit] = Percentile(values, 0.99);
    json["max_" + unit] = Percentile(values, 1);
    return json;
  };
  Json steps = Json::array();
  for (const Batch& batch : batches) {
    Json one = {{"rows", batch.rows}};
    one.update(percentiles(batch.step_us, "us"));
    one["masks_per_s"] = batch.masks_per_s;
    steps.push_back(std::move(one));
  }
  const Json json = {{"compiles",
                      {{"new", percentiles(compiles.new_ms, "ms")},
                       {"known", percentiles(compiles.known_ms, "ms")}}},
                     {"steps", std::move(steps)}};
  return absl::StrCat(json.dump(), "\n");
}

absl::StatusOr<int> RunBench(const Flags& flags) {
  const auto row_counts = RowCounts(flags);
  if (!row_counts.ok()) return row_counts.status();
  const auto steps = flags.GetNumber("steps", 1, 10'000'000);
  if (!steps.ok()) return UsageError(steps.status().message());
  const auto seed = flags.GetNumber("seed", 0, std::int64_t{1} << 40);
  if (!seed.ok()) return UsageError(seed.status().message());
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const auto compiles = CompileAll(**connection, flags);
  if (!compiles.ok()) return compiles.status();
  const auto batches = RunBatches(**connection, compiles->ids, *row_counts,
                                  static_cast<int>(*steps), static_cast<std::uint64_t>(*seed));
  if (!batches.ok()) return batches.status();
  absl::PrintF("%s", flags.Has("json") ? JsonOf(*compiles, *batches) : Text(*compiles, *batches));
  return kExitYes;
}

}  // namespace

const Command kBenchCommand = {
    "bench",
    "[SCHEMA ...]",
    "measures what compiles and steps cost at a server",
    "Compiles the schemas, then does steps over one stream with nothing between them: each row\n"
    "has one random token of its mask; one of the next schema comes for a row that has ended.\n"
    "A step is timed from sending it to having its masks. The first masks of a grammar are in the\n"
    "figures where the server does not know them yet: run it twice to see both.\n\n"
    "  maskctl bench --server=unix:/run/maskd/maskd.sock --rows=1,64 --steps=5000\n",
    &BenchFlags,
    &RunBench,
};

}  // namespace maskd::cli
