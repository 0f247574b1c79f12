// What hostile rows do to others of the same grammar: rows that write ordinary objects, alone and
// beside as many that nest deep at random.
//
//   neighbours --tokenizer build/vocab/llama3.tiktoken --rows 1000
//
// Rows take turns, a token and its mask each, on one thread, kind json_object. Printed are the
// ordinary rows' steps in microseconds, and how many rows of either kind failed; the last row nests
// arrays without end and is expected to fail by itself.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/endless_texts.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, rows, 1'000, "Rows of either kind.");
ABSL_FLAG(int, rounds, 400, "Steps of each row.");
ABSL_FLAG(int, levels, 1'000, "Levels of a hostile text.");
ABSL_FLAG(int, brackets, 10'000'000, "Brackets of the row that nests without end.");

namespace maskd::bench {
namespace {

// A row that writes one text after the other.
class Writer {
 public:
  Writer(std::shared_ptr<const CompiledGrammar> grammar, const TextSplitter* splitter,
         const EndlessTexts* texts, std::uint64_t seed)
      : grammar_(std::move(grammar)),
        splitter_(splitter),
        texts_(texts),
        random_(seed),
        matcher_(grammar_) {}

  // Takes one token more; false where the row has failed.
  bool Step() {
    if (at_ == tokens_.size()) {
      tokens_ = *splitter_->Longest(texts_->make(&random_));
      at_ = 0;
      matcher_ = Matcher(grammar_);
    }
    return matcher_.Accept(tokens_[at_++]).ok() && matcher_.Mask().ok();
  }

 private:
  std::shared_ptr<const CompiledGrammar> grammar_;
  const TextSplitter* splitter_;
  const EndlessTexts* texts_;
  Random random_;
  Matcher matcher_;
  std::vector<TokenId> tokens_;
  std::size_t at_ = 0;
};

struct Outcome {
  std::vector<double> us;
  int failed = 0;
  int hostile_failed = 0;
};

Outcome Run(const std::shared_ptr<const CompiledGrammar>& grammar, const TextSplitter& splitter,
            bool with_hostile) {
  const EndlessTexts ordinary = OpenObjects();
  const EndlessTexts nested = NestedTexts(absl::GetFlag(FLAGS_levels));
  std::vector<Writer> rows;
  std::vector<Writer> hostile;
  for (int i = 0; i < absl::GetFlag(FLAGS_rows); ++i) {
    rows.emplace_back(grammar, &splitter, &ordinary, i);
    if (with_hostile) hostile.emplace_back(grammar, &splitter, &nested, i);
  }
  Outcome outcome;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Clock::time_point start = Clock::now();
      outcome.failed += rows[i].Step() ? 0 : 1;
      outcome.us.push_back(MicrosSince(start));
      if (with_hostile) outcome.hostile_failed += hostile[i].Step() ? 0 : 1;
    }
  }
  return outcome;
}

void Print(const char* name, const Outcome& outcome, const CompiledGrammar& grammar) {
  const GrammarCosts costs = grammar.costs();
  std::printf(
      "%-14s p50 %6.2f p99 %7.2f p99.9 %8.2f max %9.1f us; failed %d, hostile %d; %.1f MiB, "
      "renewals %lld\n",
      name, Percentile(outcome.us, 50), Percentile(outcome.us, 99), Percentile(outcome.us, 99.9),
      Percentile(outcome.us, 100), outcome.failed, outcome.hostile_failed,
      static_cast<double>(costs.held_bytes + costs.mask_bytes) / (1 << 20),
      static_cast<long long>(costs.renewals));
  std::fflush(stdout);
}

// Where a row of brackets alone ends.
void NestWithoutEnd(const std::shared_ptr<const CompiledGrammar>& grammar,
                    const TextSplitter& splitter) {
  Matcher matcher(grammar);
  absl::Status taken;
  const std::vector<TokenId> begin = *splitter.Longest("{\"\":");
  for (const TokenId token : begin) taken.Update(matcher.Accept(token));
  const std::vector<TokenId> bracket = *splitter.Longest("[");
  int levels = 0;
  const Clock::time_point start = Clock::now();
  for (; taken.ok() && levels < absl::GetFlag(FLAGS_brackets); ++levels) {
    taken = matcher.Accept(bracket.front());
    if (taken.ok()) taken = matcher.Mask().status();
  }
  Matcher other(grammar);
  std::printf("a row of brackets ends after %d in %.1f s: %s; another row: %s\n", levels,
              MicrosSince(start) / 1e6, std::string(taken.ToString()).c_str(),
              other.Accept(begin.front()).ok() && other.Mask().ok() ? "goes on" : "FAILS");
}

int Main() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "%s\n", std::string(vocabulary.status().ToString()).c_str());
    return 2;
  }
  const TextSplitter splitter(**vocabulary);
  bool all = true;
  for (const bool with_hostile : {false, true, false, true}) {
    const auto space = TokenizerSpace::Create(*vocabulary);
    const auto grammar = CompileForBench({"json_object", "", {}}, space);
    if (!grammar.ok()) return 2;
    const Outcome outcome = Run(*grammar, splitter, with_hostile);
    Print(with_hostile ? "beside hostile" : "alone", outcome, **grammar);
    all = all && outcome.failed == 0;
    if (with_hostile) NestWithoutEnd(*grammar, splitter);
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("neighbours --tokenizer FILE [--rows N]");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Main();
}
