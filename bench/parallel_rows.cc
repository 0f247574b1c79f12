// A step of many rows in states that nobody has met, by one thread and with helpers.
//
//   parallel_rows --tokenizer llama3=build/vocab/llama3.tiktoken,preset=llama3
//       --cases ../shared/maskbench/open.jsonl.gz --helpers 0,1
//
// step     one step of --rows rows with --drafts drafts each, in the process: the session's work,
//          without a wire. Its tokens are those of MaskBench's documents; the rows of a document
//          begin at different places of it. Nothing is made ahead.
// new      each figure begins with a new server, to which every state and mask is new.
// helpers  threads beside the step's own: --mask_threads less one. The least of --runs runs counts.
// model    the share of a step that ran side by side, as the first two numbers of helpers show it,
//          and what eight threads make of that (Amdahl). A grammar's new states are made under one
//          lock, so --grammars matters.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "bench/cases.h"
#include "bench/samples.h"
#include "cache/work_pool.h"
#include "service/config/tokenizer_flag.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_session.h"
#include "service/streams/stream_terms.h"

ABSL_FLAG(std::string, tokenizer, "", "as the server's flag; Llama 3's, whose tokens cases have");
ABSL_FLAG(std::string, cases, "", "MaskBench's cases");
ABSL_FLAG(std::vector<std::string>, helpers, (std::vector<std::string>{"0", "1"}),
          "threads beside the step's own, one figure each");
ABSL_FLAG(int, rows, 256, "rows of each step");
ABSL_FLAG(int, drafts, 4, "draft tokens of each row");
ABSL_FLAG(int, grammars, 32, "grammars that the rows are of");
ABSL_FLAG(int, steps, 40, "steps");
ABSL_FLAG(int, runs, 3, "runs of each figure");

namespace maskd::bench {
namespace {

using service::RowId;
using service::StepRequest;

constexpr std::int64_t kMaskStoreBytes = std::int64_t{256} << 20;
constexpr double kModelThreads = 8;

bool NeverCancelled() { return false; }

// A grammar and one of its documents.
struct Text {
  std::string schema;
  std::vector<TokenId> tokens;
};

// The first of the sample whose document is long enough for the rows to begin apart.
absl::StatusOr<std::vector<Text>> ReadTexts(std::size_t count, std::size_t least_tokens) {
  const auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = 1'000});
  if (!cases.ok()) return cases.status();
  std::vector<Text> texts;
  for (std::size_t i = 0; i < cases->size() && texts.size() < count; ++i) {
    const auto& tests = (*cases)[i].tests;
    const auto fits = std::ranges::find_if(tests, [&](const Instance& test) {
      return test.valid && test.tokens.size() >= least_tokens;
    });
    if (fits != tests.end()) texts.push_back({(*cases)[i].schema, fits->tokens});
  }
  if (texts.empty()) return absl::NotFoundError("no document has as many tokens as --steps");
  return texts;
}

// The rows' places in their texts, and the steps that they take.
class Rows {
 public:
  explicit Rows(const std::vector<Text>* texts) : texts_(*texts) {
    const auto rows = static_cast<std::size_t>(absl::GetFlag(FLAGS_rows));
    const std::size_t of_a_text = (rows + texts_.size() - 1) / texts_.size();
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t length = TextOf(row).tokens.size();
      at_.push_back(row / texts_.size() * length / of_a_text);
    }
  }

  [[nodiscard]] StepRequest Open() const {
    StepRequest request;
    request.step = 1;
    request.wait_ms = 600'000;
    for (std::size_t row = 0; row < at_.size(); ++row) {
      service::RowToOpen open;
      open.row = static_cast<RowId>(row);
      open.target.source = GrammarSource{"json_schema", TextOf(row).schema, {}};
      const auto& tokens = TextOf(row).tokens;
      open.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(at_[row]));
      request.opens.push_back(std::move(open));
    }
    return request;
  }

  // Rows whose text has ended are named no more.
  [[nodiscard]] StepRequest Next(std::uint64_t step) {
    StepRequest request;
    request.step = step;
    const auto drafts = static_cast<std::size_t>(absl::GetFlag(FLAGS_drafts));
    for (std::size_t row = 0; row < at_.size(); ++row) {
      const std::vector<TokenId>& tokens = TextOf(row).tokens;
      if (at_[row] >= tokens.size()) continue;
      service::RowToMove move;
      move.row = static_cast<RowId>(row);
      move.tokens = {tokens[at_[row]++]};
      move.has_drafts = true;
      const std::size_t end = std::min(tokens.size(), at_[row] + drafts);
      move.drafts.assign(tokens.begin() + static_cast<std::ptrdiff_t>(at_[row]),
                         tokens.begin() + static_cast<std::ptrdiff_t>(end));
      request.moves.push_back(std::move(move));
    }
    return request;
  }

 private:
  [[nodiscard]] const Text& TextOf(std::size_t row) const { return texts_[row % texts_.size()]; }

  const std::vector<Text>& texts_;
  std::vector<std::size_t> at_;  // of each row, tokens taken
};

double Micros(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// What each step took on a new server.
absl::StatusOr<std::vector<double>> Run(const std::vector<Text>& texts, int helpers) {
  const auto source = service::ParseTokenizerFlag(absl::GetFlag(FLAGS_tokenizer));
  if (!source.ok()) return source.status();
  const auto tokenizers = service::TokenizerStore::Load({*source}, kMaskStoreBytes);
  if (!tokenizers.ok()) return tokenizers.status();
  service::Config config;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  service::GrammarStore grammars(config, nullptr);
  std::optional<cache::WorkPool> pool;
  service::StreamSession session(&(*tokenizers)->all().front(), &grammars,
                                 service::LimitsOf(config), service::FormTerms(), nullptr);
  if (helpers > 0) {
    pool.emplace(helpers + 1, static_cast<std::size_t>(helpers));  // one stays free
    session.HelpedBy(&*pool, nullptr);
  }
  Rows rows(&texts);
  if (const auto opened = session.Step(rows.Open(), &NeverCancelled); !opened.ok())
    return opened.status();
  std::vector<double> micros;
  const auto last = static_cast<std::uint64_t>(1 + absl::GetFlag(FLAGS_steps));
  for (std::uint64_t step = 2; step <= last; ++step) {
    const StepRequest request = rows.Next(step);
    const auto begin = std::chrono::steady_clock::now();
    if (const auto made = session.Step(request, &NeverCancelled); !made.ok()) return made.status();
    micros.push_back(Micros(std::chrono::steady_clock::now() - begin));
  }
  return micros;
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The share of the work that `threads` threads did side by side, if they took `ratio` of one's
// time.
double SharedPart(double ratio, double threads) { return (1 - ratio) / (1 - 1 / threads); }

// The run that took least.
absl::StatusOr<std::vector<double>> BestRun(const std::vector<Text>& texts, int helpers) {
  std::vector<double> best;
  for (int run = 0; run < absl::GetFlag(FLAGS_runs); ++run) {
    auto micros = Run(texts, helpers);
    if (!micros.ok()) return micros.status();
    if (best.empty() || Sum(*micros) < Sum(best)) best = *std::move(micros);
  }
  return best;
}

absl::Status Main() {
  const auto texts = ReadTexts(static_cast<std::size_t>(absl::GetFlag(FLAGS_grammars)),
                               static_cast<std::size_t>(absl::GetFlag(FLAGS_steps)));
  if (!texts.ok()) return texts.status();
  std::vector<std::pair<int, double>> sums;
  for (const std::string& text : absl::GetFlag(FLAGS_helpers)) {
    int helpers = 0;
    if (!absl::SimpleAtoi(text, &helpers) || helpers < 0)
      return absl::InvalidArgumentError(absl::StrCat("--helpers: ", text, " is no count"));
    const auto best = BestRun(*texts, helpers);
    if (!best.ok()) return best.status();
    sums.emplace_back(helpers, Sum(*best));
    std::printf(
        "%d helpers: %d rows of %zu grammars, %d drafts: %d steps, us mean %.0f p50 %.0f p99 %.0f, "
        "%.2fx\n",
        helpers, absl::GetFlag(FLAGS_rows), texts->size(), absl::GetFlag(FLAGS_drafts),
        absl::GetFlag(FLAGS_steps), Sum(*best) / static_cast<double>(best->size()),
        Percentile(*best, 50), Percentile(*best, 99), sums.front().second / Sum(*best));
    std::fflush(stdout);
  }
  if (sums.size() > 1 && sums[0].first == 0 && sums[1].first > 0) {
    const double part = SharedPart(sums[1].second / sums[0].second, 1 + sums[1].first);
    std::printf("model: %.0f %% side by side, %.1fx with %.0f threads\n", 100 * part,
                1 / (1 - part + part / kModelThreads), kModelThreads);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("a step of many rows in new states, by one thread and with helpers");
  absl::ParseCommandLine(argc, argv);
  const absl::Status done = maskd::bench::Main();
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.ToString().c_str());
  return done.ok() ? 0 : 1;
}
