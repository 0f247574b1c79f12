// What a matcher's calls cost in real documents, on states and masks that are known: what a server
// meets again and again.
//
//   engine_bench --cases=../shared/maskbench/open.jsonl.gz --tokenizer=build/vocab/llama3.tiktoken
//   engine_bench ... --benchmark_filter=step/ --benchmark_repetitions=5
//
// Documents  --documents schemas of MaskBench with their first valid instance each (documents.h);
//            their ids are in the context of --benchmark_out.
// accept ... mask  each call alone at each place of every document; an iteration is all of them.
//            mean_ns, p50_ns and so on are of single calls, without the time that reading the clock
//            takes, which is measured beside.
// step/      one decode step of a batch: each row takes its document's next token and has its mask
//            copied into the caller's plane; a document that ends begins anew. Rows are divided
//            evenly among `threads` threads, which wait for each other at each step. The p50_us and
//            so on are of whole steps.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_join.h"
#include "benchmark/benchmark.h"

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/matcher/matcher.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, documents, 64, "Documents, and rows of a step at most.");

namespace maskd::bench {
namespace {

using Documents = std::vector<Document>;

double NanosSince(Clock::time_point start) { return MicrosSince(start) * 1e3; }

void ReportCalls(benchmark::State& state, const std::vector<double>& nanos) {
  state.counters["mean_ns"] = std::accumulate(nanos.begin(), nanos.end(), 0.0) /
                              static_cast<double>(std::max<std::size_t>(nanos.size(), 1));
  for (const auto& [name, percent] : {std::pair{"p50_ns", 50.0}, std::pair{"p90_ns", 90.0},
                                      std::pair{"p99_ns", 99.0}, std::pair{"max_ns", 100.0}}) {
    state.counters[name] = Percentile(nanos, percent);
  }
}

// Calls `op(matcher, document, place)` at every place of every document, the matcher having taken
// the tokens before it. What op returns is the time of the call in nanoseconds.
template <typename Op>
void EachPlace(benchmark::State& state, const Documents& documents, const Op& op) {
  const double clock = ClockCostMicros() * 1e3;
  std::vector<double> nanos;
  for (auto _ : state) {
    double sum = 0;
    for (const Document& document : documents) {
      Matcher matcher(document.grammar);
      for (std::size_t at = 0; at < document.tokens.size(); ++at) {
        const double took = op(&matcher, document, at);
        if (took >= 0) {
          nanos.push_back(std::max(took - clock, 0.0));
          sum += nanos.back();
        }
        if (!matcher.Accept(document.tokens[at]).ok())
          return state.SkipWithError("a known document is refused");
      }
    }
    state.SetIterationTime(sum / 1e9);
  }
  ReportCalls(state, nanos);
}

void BM_Accept(benchmark::State& state, const Documents& documents) {
  EachPlace(state, documents, [](Matcher* matcher, const Document& document, std::size_t at) {
    const Clock::time_point start = Clock::now();
    benchmark::DoNotOptimize(matcher->Accept(document.tokens[at]).ok());
    const double took = NanosSince(start);
    benchmark::DoNotOptimize(matcher->Rollback(1).ok());
    return took;
  });
}

void BM_Rollback4(benchmark::State& state, const Documents& documents) {
  constexpr std::size_t kCount = 4;
  EachPlace(state, documents, [](Matcher* matcher, const Document& document, std::size_t at) {
    if (at < kCount) return -1.0;
    const Clock::time_point start = Clock::now();
    benchmark::DoNotOptimize(matcher->Rollback(kCount).ok());
    const double took = NanosSince(start);
    for (std::size_t i = at - kCount; i < at; ++i)
      benchmark::DoNotOptimize(matcher->Accept(document.tokens[i]).ok());
    return took;
  });
}

// A copy and its end.
void BM_Fork(benchmark::State& state, const Documents& documents) {
  EachPlace(state, documents, [](Matcher* matcher, const Document&, std::size_t) {
    const Clock::time_point start = Clock::now();
    {
      const Matcher copy = matcher->Fork();
      benchmark::DoNotOptimize(&copy);
    }
    return NanosSince(start);
  });
}

void BM_MaskByReference(benchmark::State& state, const Documents& documents) {
  EachPlace(state, documents, [](Matcher* matcher, const Document&, std::size_t) {
    const Clock::time_point start = Clock::now();
    {
      const auto mask = matcher->Mask();
      benchmark::DoNotOptimize((*mask)->serial());
    }
    return NanosSince(start);
  });
}

void BM_MaskCopied(benchmark::State& state, const Documents& documents) {
  std::vector<std::int32_t> row(documents.front().grammar->tokenizer().vocabulary().size() / 32 +
                                1);
  EachPlace(state, documents, [&row](Matcher* matcher, const Document&, std::size_t) {
    const Clock::time_point start = Clock::now();
    {
      const auto mask = matcher->Mask();
      (*mask)->CopyTo(row.data());
    }
    const double took = NanosSince(start);
    benchmark::ClobberMemory();
    return took;
  });
}

// A batch whose rows are divided among threads that wait for each other at each step.
class Batch {
 public:
  Batch(const Documents& documents, int row_count, int threads)
      : words_(static_cast<std::size_t>(
            MaskWordCount(documents.front().grammar->tokenizer().vocabulary().size()))),
        plane_(words_ * static_cast<std::size_t>(row_count)),
        threads_(threads) {
    for (int row = 0; row < row_count; ++row) {
      const Document& document = documents[static_cast<std::size_t>(row) % documents.size()];
      rows_.push_back({&document, Matcher(document.grammar), 0});
    }
    for (int i = 1; i < threads_; ++i) helpers_.emplace_back([this, i] { Help(i); });
  }

  ~Batch() {
    stopping_ = true;
    ++step_;
    for (std::thread& helper : helpers_) helper.join();
  }

  // One step of all rows.
  void Step() {
    done_ = 0;
    ++step_;
    Share(0);
    while (done_ < threads_ - 1) {
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  struct Row {
    const Document* document;
    Matcher matcher;
    std::size_t at;
  };

  void Help(int share) {
    for (int seen = 0;;) {
      while (step_ == seen) {
      }
      ++seen;
      if (stopping_) return;
      Share(share);
      ++done_;
    }
  }

  void Share(int share) {
    for (std::size_t i = static_cast<std::size_t>(share); i < rows_.size();
         i += static_cast<std::size_t>(threads_)) {
      StepRow(rows_[i], plane_.data() + i * words_);
    }
  }

  void StepRow(Row& row, std::int32_t* words) {
    if (row.at == row.document->tokens.size()) {
      row.matcher = Matcher(row.document->grammar);
      row.at = 0;
    } else if (!row.matcher.Accept(row.document->tokens[row.at++]).ok()) {
      failed_ = true;
    }
    const auto mask = row.matcher.Mask();
    (*mask)->CopyTo(words);
  }

  const std::size_t words_;
  std::vector<std::int32_t> plane_;
  const int threads_;
  std::vector<Row> rows_;
  std::vector<std::thread> helpers_;
  std::atomic<int> step_ = 0;
  std::atomic<int> done_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
};

void BM_Step(benchmark::State& state, const Documents& documents) {
  Batch batch(documents, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  std::vector<double> micros;
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    batch.Step();
    micros.push_back(MicrosSince(start));
    state.SetIterationTime(micros.back() / 1e6);
  }
  if (batch.failed()) return state.SkipWithError("a known document is refused");
  for (const auto& [name, percent] :
       {std::pair{"p50_us", 50.0}, std::pair{"p99_us", 99.0}, std::pair{"max_us", 100.0}}) {
    state.counters[name] = Percentile(micros, percent);
  }
}

void Register(const Documents& documents) {
  using Call = void (*)(benchmark::State&, const Documents&);
  for (const auto& [name, call] : {std::pair<const char*, Call>{"accept", &BM_Accept},
                                   {"rollback_4", &BM_Rollback4},
                                   {"fork", &BM_Fork},
                                   {"mask_by_reference", &BM_MaskByReference},
                                   {"mask_copied", &BM_MaskCopied}}) {
    benchmark::RegisterBenchmark(name, call, documents)
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond);
  }
  benchmark::RegisterBenchmark("step", &BM_Step, documents)
      ->ArgNames({"rows", "threads"})
      ->ArgsProduct({{1, 8, 64}, {1}})
      ->Args({64, 2})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

absl::Status Run() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) return vocabulary.status();
  const auto documents =
      LoadDocuments(absl::GetFlag(FLAGS_cases), TokenizerSpace::Create(*vocabulary),
                    absl::GetFlag(FLAGS_documents));
  if (!documents.ok()) return documents.status();
  benchmark::AddCustomContext(
      "documents", absl::StrJoin(*documents, " ", [](std::string* out, const Document& document) {
        out->append(document.id);
      }));
  Register(*documents);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);  // takes its own flags out
  absl::SetProgramUsageMessage("Costs of a matcher's calls; see bench/engine_bench.cc.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(512 << 20);  // as the service does
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "engine_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
