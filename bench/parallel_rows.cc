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
// model    what such a step would take on machines with more cores (bench/makespan.h), from what
//          its parts take one after the other: what the step's thread does alone (the rows' tokens,
//          and the answers with masks that are known), and each row's masks. These are the time of
//          a row's answer in new states less that in known ones, with a session for each row.
//          A grammar's new states are made under one lock, so --grammars matters. A helper is
//          called and wakes up as a thread of a pool does here: run it where a core is free.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
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
#include "bench/makespan.h"
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
constexpr int kModelThreads[] = {2, 4, 8, 16};
constexpr int kCalls = 200;

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

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// A server without a wire, to which every state is new.
class Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start() {
    const auto source = service::ParseTokenizerFlag(absl::GetFlag(FLAGS_tokenizer));
    if (!source.ok()) return source.status();
    auto tokenizers = service::TokenizerStore::Load({*source}, kMaskStoreBytes);
    if (!tokenizers.ok()) return tokenizers.status();
    return std::unique_ptr<Server>(new Server(*std::move(tokenizers)));
  }

  [[nodiscard]] std::unique_ptr<service::StreamSession> NewSession() {
    return std::make_unique<service::StreamSession>(&tokenizers_->all().front(), &grammars_,
                                                    service::LimitsOf(config_),
                                                    service::FormTerms(), nullptr);
  }

 private:
  explicit Server(std::unique_ptr<const service::TokenizerStore> tokenizers)
      : config_(WithNothingAhead()),
        tokenizers_(std::move(tokenizers)),
        grammars_(config_, nullptr) {}

  static service::Config WithNothingAhead() {
    service::Config config;
    config.warm_up_ms = 0;
    config.look_ahead_masks = 0;
    return config;
  }

  const service::Config config_;
  const std::unique_ptr<const service::TokenizerStore> tokenizers_;
  service::GrammarStore grammars_;
};

// A step's two parts.
struct StepMicros {
  double begin = 0;   // the rows' tokens
  double finish = 0;  // their masks and answers
};

absl::StatusOr<StepMicros> TimeStep(service::StreamSession* session, const StepRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  if (absl::Status begun = session->Begin(request); !begun.ok()) return begun;
  const auto middle = std::chrono::steady_clock::now();
  if (const auto made = session->Finish(request, &NeverCancelled); !made.ok()) return made.status();
  return StepMicros{Micros(middle - begin), Micros(std::chrono::steady_clock::now() - middle)};
}

// What each step of one stream takes.
absl::StatusOr<std::vector<StepMicros>> TimeSteps(Server* server, const std::vector<Text>& texts,
                                                  cache::WorkPool* helpers) {
  const auto session = server->NewSession();
  if (helpers != nullptr) session->HelpedBy(helpers, nullptr);
  Rows rows(&texts);
  if (const auto opened = session->Step(rows.Open(), &NeverCancelled); !opened.ok())
    return opened.status();
  std::vector<StepMicros> steps;
  const auto last = static_cast<std::uint64_t>(1 + absl::GetFlag(FLAGS_steps));
  for (std::uint64_t step = 2; step <= last; ++step) {
    const auto micros = TimeStep(session.get(), rows.Next(step));
    if (!micros.ok()) return micros.status();
    steps.push_back(*micros);
  }
  return steps;
}

// What each row's answer takes, step by step; the lock is the row's grammar.
using Answers = std::vector<std::vector<LoopItem>>;

// With a stream for each row, in the order of a step.
absl::StatusOr<Answers> TimeAnswers(Server* server, const std::vector<Text>& texts) {
  struct Stream {
    std::unique_ptr<service::StreamSession> session;
    std::uint64_t step = 1;
  };
  std::vector<Stream> streams;
  Rows rows(&texts);
  for (service::RowToOpen& open : rows.Open().opens) {
    StepRequest request;
    request.step = 1;
    request.wait_ms = 600'000;
    request.opens.push_back(std::move(open));
    streams.push_back({server->NewSession()});
    const auto opened = streams.back().session->Step(request, &NeverCancelled);
    if (!opened.ok()) return opened.status();
  }
  Answers answers;
  for (int i = 0; i < absl::GetFlag(FLAGS_steps); ++i) {
    answers.emplace_back();
    for (service::RowToMove& move : rows.Next(0).moves) {
      const auto row = static_cast<std::size_t>(move.row);
      StepRequest request;
      request.step = ++streams[row].step;
      request.moves.push_back(std::move(move));
      const auto micros = TimeStep(streams[row].session.get(), request);
      if (!micros.ok()) return micros.status();
      answers.back().push_back({micros->finish, row % texts.size()});
    }
  }
  return answers;
}

double Total(const StepMicros& step) { return step.begin + step.finish; }

// What a step is made of; each part's least of --runs runs, each of which begins with new servers.
struct Parts {
  std::vector<StepMicros> steps;  // of one stream, in new states
  std::vector<StepMicros> known;  // the same again
  Answers answers;                // in new states
  Answers known_answers;
};

void KeepLess(double value, double* least) { *least = std::min(*least, value); }

void KeepLess(const StepMicros& step, StepMicros* least) {
  KeepLess(step.begin, &least->begin);
  KeepLess(step.finish, &least->finish);
}

void KeepLess(const LoopItem& item, LoopItem* least) { KeepLess(item.micros, &least->micros); }

// Takes what `now` has less of; everything from an empty `least`.
template <typename T>
void KeepLess(const std::vector<T>& now, std::vector<T>* least) {
  if (least->empty()) *least = now;
  for (std::size_t i = 0; i < now.size(); ++i) KeepLess(now[i], &(*least)[i]);
}

// Both parts twice on one server: in new states, and again in those that are known then.
absl::Status TimeParts(const std::vector<Text>& texts, Parts* least) {
  const auto of_steps = Server::Start();
  if (!of_steps.ok()) return of_steps.status();
  for (auto* part : {&least->steps, &least->known}) {
    const auto steps = TimeSteps(of_steps->get(), texts, nullptr);
    if (!steps.ok()) return steps.status();
    KeepLess(*steps, part);
  }
  const auto of_answers = Server::Start();
  if (!of_answers.ok()) return of_answers.status();
  for (auto* part : {&least->answers, &least->known_answers}) {
    const auto answers = TimeAnswers(of_answers->get(), texts);
    if (!answers.ok()) return answers.status();
    KeepLess(*answers, part);
  }
  return absl::OkStatus();
}

// Microseconds, medians: to call a thread that sleeps, and from then until it runs.
struct Call {
  double call = 0;
  double wake = 0;
};

Call TimeCalls() {
  cache::WorkPool pool(1, 1);
  std::vector<double> calls;
  std::vector<double> wakes;
  for (int i = 0; i < kCalls; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it sleeps again
    std::promise<std::chrono::steady_clock::time_point> runs;
    const auto begin = std::chrono::steady_clock::now();
    if (!pool.Submit([&runs] { runs.set_value(std::chrono::steady_clock::now()); })) continue;
    const auto called = std::chrono::steady_clock::now();
    calls.push_back(Micros(called - begin));
    wakes.push_back(std::max(0.0, Micros(runs.get_future().get() - called)));
  }
  return {Percentile(calls, 50), Percentile(wakes, 50)};
}

// What all steps take with `threads` threads.
double ModelMicros(const Parts& parts, int threads, const Call& call) {
  double sum = 0;
  for (std::size_t step = 0; step < parts.steps.size(); ++step) {
    std::vector<LoopItem> masks = parts.answers[step];
    for (std::size_t i = 0; i < masks.size(); ++i) {
      const double known = parts.known_answers[step][i].micros;
      masks[i].micros = std::max(0.0, masks[i].micros - known);
    }
    sum += parts.steps[step].begin + parts.known[step].finish +
           Makespan(masks, threads, call.call, call.wake);
  }
  return sum;
}

absl::Status PrintModel(const std::vector<Text>& texts) {
  Parts parts;
  for (int run = 0; run < absl::GetFlag(FLAGS_runs); ++run)
    if (absl::Status timed = TimeParts(texts, &parts); !timed.ok()) return timed;
  double one = 0;
  double begins = 0;
  double known = 0;
  for (std::size_t step = 0; step < parts.steps.size(); ++step) {
    one += Total(parts.steps[step]);
    begins += parts.steps[step].begin;
    known += parts.known[step].finish;
  }
  const auto count = static_cast<double>(parts.steps.size());
  std::printf("parts: a step takes %.0f us by one thread: tokens %.0f, answers %.0f, masks %.0f\n",
              one / count, begins / count, known / count,
              (ModelMicros(parts, 1, {}) - begins - known) / count);
  const Call call = TimeCalls();
  std::printf("a helper is called in %.1f us and runs %.1f us later\n", call.call, call.wake);
  for (const int threads : kModelThreads) {
    const double micros = ModelMicros(parts, threads, call);
    std::printf("model: %2d threads %.0f us, %.2fx\n", threads, micros / count, one / micros);
  }
  return absl::OkStatus();
}

// The run that took least, on a new server each.
absl::StatusOr<std::vector<double>> BestRun(const std::vector<Text>& texts, int helpers) {
  std::optional<cache::WorkPool> pool;
  if (helpers > 0) pool.emplace(helpers + 1, static_cast<std::size_t>(helpers));  // one stays free
  std::vector<double> best;
  for (int run = 0; run < absl::GetFlag(FLAGS_runs); ++run) {
    const auto server = Server::Start();
    if (!server.ok()) return server.status();
    const auto steps = TimeSteps(server->get(), texts, pool.has_value() ? &*pool : nullptr);
    if (!steps.ok()) return steps.status();
    std::vector<double> micros;
    for (const StepMicros& step : *steps) micros.push_back(Total(step));
    if (best.empty() || Sum(micros) < Sum(best)) best = std::move(micros);
  }
  return best;
}

absl::Status Main() {
  const auto texts = ReadTexts(static_cast<std::size_t>(absl::GetFlag(FLAGS_grammars)),
                               static_cast<std::size_t>(absl::GetFlag(FLAGS_steps)));
  if (!texts.ok()) return texts.status();
  std::optional<double> first;
  for (const std::string& text : absl::GetFlag(FLAGS_helpers)) {
    int helpers = 0;
    if (!absl::SimpleAtoi(text, &helpers) || helpers < 0)
      return absl::InvalidArgumentError(absl::StrCat("--helpers: ", text, " is no count"));
    const auto best = BestRun(*texts, helpers);
    if (!best.ok()) return best.status();
    if (!first.has_value()) first = Sum(*best);
    std::printf(
        "%d helpers: %d rows of %zu grammars, %d drafts: %d steps, us mean %.0f p50 %.0f p99 %.0f, "
        "%.2fx\n",
        helpers, absl::GetFlag(FLAGS_rows), texts->size(), absl::GetFlag(FLAGS_drafts),
        absl::GetFlag(FLAGS_steps), Sum(*best) / static_cast<double>(best->size()),
        Percentile(*best, 50), Percentile(*best, 99), *first / Sum(*best));
    std::fflush(stdout);
  }
  return PrintModel(*texts);
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
