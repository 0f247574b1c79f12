// What a row costs whose tokens are counted, and whether it ends in time.
//
//   closing_bench --tokenizer build/vocab/llama3.tiktoken
//                 --requests examples/model_loop_python/requests.json --rare 200
//   closing_bench --tokenizer build/vocab/llama3.tiktoken
//                 --cases ../shared/maskbench/open.jsonl.gz --with uniqueItems
//
// walks    rows of each schema take allowed tokens at random, each from a budget of its own: the
//          fewest tokens that a text has, its end, and up to 50 more; or 300, 600. A step is the
//          mask and the acceptance of its token, as service/sequences/sequence.h makes them, in
//          processor time. `late` counts rows that did not end in their budget. The same rows
//          without a budget are beside it, of at most 64 tokens. Grammars are in the spelling of a
//          request that says nothing; with --any_spelling in every one that JSON has. With
//          --rounds the same rows are walked so often in new grammars, and the least time of each
//          step counts: a shared machine adds tens of milliseconds to single steps.
// left     with --left 300 the rows of each schema of --requests begin with random ones of 1 to 300
//          tokens left; then the same rows again, in a stream that has met them. In the first
//          round a step also makes the masks that no grammar has asked for yet: so does one of a
//          row without a budget. With --rounds the later rounds find these.
// texts    valid instances of MaskBench at budgets of the tokens that they need, end included, and
//          0, 1, 8 and 50 more: `refused` counts those that a mask does not allow. With one token
//          less than needed, `overrun` counts those that all masks allow though the start has a
//          text that fits. Each keyword has a line of the texts whose schemas hold it.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/rare_schemas.h"
#include "bench/samples.h"
#include "bench/step_rows.h"
#include "grammar_core/base/heap.h"
#include "service/sequences/sequence.h"

ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(std::string, requests, "", "Schemas of examples/model_loop_python/requests.json.");
ABSL_FLAG(int, rare, 0, "Random schemas of rare keywords.");
ABSL_FLAG(int, seed, 5, "Of the random schemas.");
ABSL_FLAG(std::string, schema, "", "One more schema.");
ABSL_FLAG(bool, any_spelling, false, "Walks take every spelling that JSON has.");
ABSL_FLAG(int, rounds, 1, "Walks are repeated; the least of a step's times counts.");
ABSL_FLAG(int, walks, 20, "Rows of each schema.");
ABSL_FLAG(int, left, 0, "Rows begin with 1 to so many tokens left.");
ABSL_FLAG(bool, each, false, "A line for each schema.");
ABSL_FLAG(std::string, cases, "", "MaskBench cases, for texts.");
ABSL_FLAG(std::string, with, "", "Only cases whose schema holds this.");
ABSL_FLAG(int, sample, 0, "Only the schemas with the smallest SHA-256 of their id; 0 means all.");
ABSL_FLAG(int, most_tokens, 2000, "Longer texts are left out.");

namespace maskd::bench {
namespace {

using service::Sequence;
using service::SequencePosition;
using Random = std::mt19937_64;
using Grammar = std::shared_ptr<const CompiledGrammar>;

double ProcessorMicros() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Times {
  std::vector<double> micros;
  int rows = 0;
  int late = 0;
  int failed = 0;

  void Add(const Times& other) {
    micros.insert(micros.end(), other.micros.begin(), other.micros.end());
    rows += other.rows;
    late += other.late;
    failed += other.failed;
  }
  // Of the same steps once more.
  void KeepLeast(const Times& again) {
    assert(again.micros.size() == micros.size() && "a walk went another way");
    std::ranges::transform(micros, again.micros, micros.begin(),
                           [](double a, double b) { return std::min(a, b); });
  }
  void Print(const std::string& name) const {
    const double sum = std::accumulate(micros.begin(), micros.end(), 0.0);
    std::printf(
        "%-24s %5d rows %7zu steps  us mean %6.1f p50 %6.1f p99 %8.1f max %8.1f  late %d failed "
        "%d\n",
        name.c_str(), rows, micros.size(), micros.empty() ? 0 : sum / micros.size(),
        Percentile(micros, 50), Percentile(micros, 99), Percentile(micros, 100), late, failed);
    std::fflush(stdout);
  }
};

// One step of a row: its mask, and the token that `choose` takes of it; false at the row's end.
template <typename Choose>
bool Step(Sequence* row, Times* times, Choose choose) {
  static std::vector<SequencePosition> positions;
  double start = ProcessorMicros();
  const absl::Status filled = row->FillPositions({}, &positions);
  double spent = ProcessorMicros() - start;
  if (!filled.ok() || positions[0].mask == nullptr) {
    times->failed += filled.ok() ? 0 : 1;
    return false;
  }
  const TokenId token = choose(*positions[0].mask);
  if (token < 0) return false;
  start = ProcessorMicros();
  const absl::Status taken = row->Take(token);
  spent += ProcessorMicros() - start;
  times->micros.push_back(spent);
  if (!taken.ok()) {
    std::fprintf(stderr, "%s\n", taken.ToString().c_str());
    ++times->failed;
  }
  return taken.ok();
}

void Walk(const Grammar& grammar, const std::shared_ptr<ClosingMasks>& closing, int budget,
          Random* random, Times* times) {
  Sequence row(grammar, {.closing = closing});
  const bool bounded = budget > 0;
  if (bounded) row.SetRemaining(budget);
  const auto choose = [&](const TokenMask& mask) {
    const TokenMask plain = mask;
    return RandomAllowed(plain.words(), *random);
  };
  ++times->rows;
  for (int left = bounded ? budget : 64; left > 0 && !row.finished(); --left)
    if (!Step(&row, times, choose)) break;
  if (bounded && !row.finished()) ++times->late;
}

int BudgetOf(int need, Random* random) {
  switch ((*random)() % 8) {
    case 0:
      return need;
    case 1:
      return std::max(need, 300);
    case 2:
      return std::max(need, 600);
    default:
      return need + static_cast<int>((*random)() % 51);
  }
}

// The fewest tokens of a text and its end; 0 where they are not known.
int NeedOf(const Grammar& grammar) {
  const auto fewest = Matcher(grammar).FewTokens(4096);
  return fewest.ok() ? static_cast<int>(fewest->size()) + 1 : 0;
}

struct Named {
  std::string name;
  std::string schema;
};

absl::StatusOr<Grammar> CompileForWalks(const std::string& schema,
                                        const std::shared_ptr<TokenizerSpace>& space) {
  GrammarOptions options;
  if (!absl::GetFlag(FLAGS_any_spelling)) options.spelling = JsonSpelling::kCanonical;
  return CompileForBench({"json_schema", schema, options}, space);
}

// Of the rows of one schema, with and without a budget.
struct WalkTimes {
  Times with;
  Times without;
};

std::optional<WalkTimes> WalkSchema(const Named& one,
                                    const std::shared_ptr<TokenizerSpace>& space) {
  const auto grammar = CompileForWalks(one.schema, space);
  const int need = grammar.ok() ? NeedOf(*grammar) : 0;
  if (need == 0) return std::nullopt;
  const auto closing = std::make_shared<ClosingMasks>();
  Random random(1);  // NOLINT(cert-msc51-cpp): the same rows in every run
  WalkTimes times;
  for (int i = 0; i < absl::GetFlag(FLAGS_walks); ++i) {
    Walk(*grammar, closing, 0, &random, &times.without);
    Walk(*grammar, closing, BudgetOf(need, &random), &random, &times.with);
  }
  return times;
}

void RunWalks(const std::string& group, const std::vector<Named>& schemas,
              const std::shared_ptr<TokenizerSpace>& space) {
  Times with;
  Times without;
  for (const Named& one : schemas) {
    std::optional<WalkTimes> own = WalkSchema(one, space);
    if (!own.has_value()) continue;
    for (int round = 1; round < absl::GetFlag(FLAGS_rounds); ++round) {
      const std::optional<WalkTimes> again = WalkSchema(one, space);
      own->with.KeepLeast(again->with);
      own->without.KeepLeast(again->without);
    }
    if (absl::GetFlag(FLAGS_each)) {
      std::printf("%s\n", one.schema.substr(0, 300).c_str());
      own->with.Print(one.name);
      own->without.Print("  without");
    }
    with.Add(own->with);
    without.Add(own->without);
  }
  with.Print(group);
  without.Print("  without a budget");
}

// Times of rows that begin with few tokens left: in a stream that has met none of their states, and
// in one that has met them all.
struct LeftTimes {
  Times first;
  Times again;
};

// Of rows with `budgets`, in a new grammar.
std::optional<LeftTimes> WalkLeft(const Named& one, const std::vector<int>& budgets,
                                  const std::shared_ptr<TokenizerSpace>& space) {
  const auto grammar = CompileForWalks(one.schema, space);
  if (!grammar.ok()) return std::nullopt;
  const auto closing = std::make_shared<ClosingMasks>();
  LeftTimes times;
  for (Times* const own : {&times.first, &times.again}) {
    Random same(3);  // NOLINT(cert-msc51-cpp)
    for (const int budget : budgets) Walk(*grammar, closing, budget, &same, own);
    // Fewer than a text has cannot be kept.
    own->late = 0;
  }
  return times;
}

// Rows of each schema begin with 1 to `most` tokens left.
void RunLeft(const std::vector<Named>& schemas, int most,
             const std::shared_ptr<TokenizerSpace>& space) {
  LeftTimes all;
  for (const Named& one : schemas) {
    std::vector<int> budgets(static_cast<std::size_t>(most));
    std::iota(budgets.begin(), budgets.end(), 1);
    Random random(2);  // NOLINT(cert-msc51-cpp)
    std::ranges::shuffle(budgets, random);
    const auto rows = static_cast<std::size_t>(absl::GetFlag(FLAGS_walks));
    budgets.resize(std::min(budgets.size(), rows));
    std::optional<LeftTimes> own = WalkLeft(one, budgets, space);
    if (!own.has_value()) continue;
    for (int round = 1; round < absl::GetFlag(FLAGS_rounds); ++round) {
      const std::optional<LeftTimes> more = WalkLeft(one, budgets, space);
      own->first.KeepLeast(more->first);
      own->again.KeepLeast(more->again);
    }
    if (absl::GetFlag(FLAGS_each)) own->first.Print(one.name);
    if (absl::GetFlag(FLAGS_each)) own->again.Print("  again");
    all.first.Add(own->first);
    all.again.Add(own->again);
  }
  all.first.Print(absl::StrCat("1 to ", most, " left"));
  all.again.Print("  again");
}

// Takes `tokens` and the end; whether all were allowed.
bool TakeText(const Grammar& grammar, const std::shared_ptr<ClosingMasks>& closing,
              const std::vector<TokenId>& tokens, int budget, Times* times) {
  Sequence row(grammar, {.closing = closing});
  row.SetRemaining(budget);
  ++times->rows;
  const TokenId stop = grammar->tokenizer().vocabulary().stop_ids().front();
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const TokenId token = i < tokens.size() ? tokens[i] : stop;
    const auto choose = [&](const TokenMask& mask) { return mask.Allows(token) ? token : -1; };
    if (!Step(&row, times, choose)) return false;
  }
  return true;
}

constexpr int kSpares[] = {0, 1, 8, 50, -1};
constexpr std::size_t kBudgets = std::size(kSpares);

// Texts by what became of them at each budget.
struct Outcome {
  int texts = 0;
  int refused[kBudgets] = {};
  int overrun = 0;

  void Print(const char* name) const {
    std::printf("%-22s %5d texts; refused at need + 0: %d, 1: %d, 8: %d, 50: %d; overrun: %d\n",
                name, texts, refused[0], refused[1], refused[2], refused[3], overrun);
  }
};

constexpr const char* kKeywords[] = {
    "uniqueItems",   "minProperties", "\"if\"",     "\"contains\"", "\"not\"",  "patternProperties",
    "propertyNames", "\"pattern\"",   "\"format\"", "minLength",    "minItems", "oneOf",
    "anyOf",         "allOf",         "dependen",   "multipleOf",   "\"enum\"", "$ref",
};

class Texts {
 public:
  void AddCase(const Case& one, const Grammar& grammar) {
    const auto closing = std::make_shared<ClosingMasks>();
    const int fewest = NeedOf(grammar);
    Outcome own;
    for (const Instance& instance : one.tests) {
      const auto size = static_cast<int>(instance.tokens.size());
      if (!instance.valid || size == 0 || size > absl::GetFlag(FLAGS_most_tokens)) continue;
      if (!TakeDocument(grammar, instance.tokens)) continue;
      ++own.texts;
      for (std::size_t i = 0; i < kBudgets; ++i) {
        const int budget = size + 1 + kSpares[i];
        const bool passed = Take(one, grammar, closing, instance, budget);
        if (passed == (kSpares[i] >= 0)) continue;
        const bool is_fault = kSpares[i] >= 0 || (fewest > 0 && fewest <= budget);
        if (kSpares[i] >= 0)
          ++own.refused[i];
        else if (is_fault)
          ++own.overrun;
        if (!is_fault || !absl::GetFlag(FLAGS_each)) continue;
        std::printf("%s at need + %d, after %zu of %d tokens: %s %s\n",
                    passed ? "overrun" : "refused", kSpares[i], last_.micros.size(), size,
                    one.id.c_str(), instance.text.substr(0, 100).c_str());
      }
    }
    Add(own, &all_);
    for (std::size_t i = 0; i < std::size(kKeywords); ++i)
      if (absl::StrContains(one.schema, kKeywords[i])) Add(own, &by_keyword_[i]);
  }

  void Print() const {
    times_.Print("texts");
    all_.Print("all");
    for (std::size_t i = 0; i < std::size(kKeywords); ++i) by_keyword_[i].Print(kKeywords[i]);
  }

 private:
  bool Take(const Case& one, const Grammar& grammar, const std::shared_ptr<ClosingMasks>& closing,
            const Instance& instance, int budget) {
    last_ = {};
    const bool passed = TakeText(grammar, closing, instance.tokens, budget, &last_);
    if (absl::GetFlag(FLAGS_each) && Percentile(last_.micros, 100) > 5000) last_.Print(one.id);
    times_.Add(last_);
    return passed;
  }
  static void Add(const Outcome& from, Outcome* to) {
    to->texts += from.texts;
    to->overrun += from.overrun;
    for (std::size_t i = 0; i < kBudgets; ++i) to->refused[i] += from.refused[i];
  }

  Times times_;
  Times last_;  // of the text at hand
  Outcome all_;
  Outcome by_keyword_[std::size(kKeywords)];
};

absl::Status RunTexts(const std::shared_ptr<TokenizerSpace>& space) {
  const auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = absl::GetFlag(FLAGS_sample)});
  if (!cases.ok()) return cases.status();
  Texts texts;
  for (const Case& one : *cases) {
    if (!absl::StrContains(one.schema, absl::GetFlag(FLAGS_with))) continue;
    const auto grammar = CompileForBench({"json_schema", one.schema, {}}, space);
    if (grammar.ok()) texts.AddCase(one, *grammar);
  }
  texts.Print();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Named>> ReadRequests(const std::string& path) {
  std::ifstream file(path);
  const auto requests = nlohmann::json::parse(file, nullptr, false);
  if (!requests.is_array()) return absl::NotFoundError(absl::StrCat(path, " is no list"));
  std::vector<Named> schemas;
  for (const auto& request : requests)
    schemas.push_back({request.at("name"), request.at("schema").dump()});
  return schemas;
}

absl::Status Run() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) return vocabulary.status();
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  if (!absl::GetFlag(FLAGS_requests).empty()) {
    const auto requests = ReadRequests(absl::GetFlag(FLAGS_requests));
    if (!requests.ok()) return requests.status();
    if (const int left = absl::GetFlag(FLAGS_left); left > 0) {
      RunLeft(*requests, left, space);
      return absl::OkStatus();
    }
    RunWalks("requests", *requests, space);
    RunWalks("string", {{"string", R"({"type":"string"})"}}, space);
    RunWalks(
        "unique strings",
        {{"unique strings", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})"}},
        space);
    RunWalks("minProperties 2",
             {{"minProperties 2",
               R"({"type":"object","minProperties":2,"additionalProperties":{"type":"string"}})"}},
             space);
  }
  if (const std::string schema = absl::GetFlag(FLAGS_schema); !schema.empty())
    RunWalks("the schema", {{"the schema", schema}}, space);
  if (const int count = absl::GetFlag(FLAGS_rare); count > 0) {
    Random random(static_cast<std::uint64_t>(absl::GetFlag(FLAGS_seed)));
    std::vector<Named> rare;
    for (int i = 0; i < count; ++i) rare.push_back({absl::StrCat("rare ", i), RareSchema(&random)});
    RunWalks("rare keywords", rare, space);
  }
  return absl::GetFlag(FLAGS_cases).empty() ? absl::OkStatus() : RunTexts(space);
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Rows whose tokens are counted; see bench/closing_bench.cc.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(512 << 20);  // as the service does
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "closing_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
