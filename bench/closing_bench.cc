// What a row costs whose tokens are counted, and whether it ends in time.
//
//   closing_bench --tokenizer build/vocab/llama3.tiktoken
//                 --requests examples/model_loop_python/requests.json --rare 200
//   closing_bench --tokenizer build/vocab/llama3.tiktoken
//                 --cases ../shared/maskbench/open.jsonl.gz --with uniqueItems
//
// walks    rows of each schema take allowed tokens at random, each from a budget of its own: the
//          fewest tokens that a text has, its end, and up to 50 more; or 300, 600. A step is the
//          mask and the acceptance of its token, as service/sequence.h makes them, in processor
//          time. `late` counts rows that did not end in their budget. The same rows without a
//          budget are beside it, of at most 64 tokens.
// texts    valid instances of MaskBench whose tokens fit exactly, and with some to spare: `refused`
//          counts those that a mask does not allow. With one token less than needed, `overrun`
//          counts rows that were led past their budget: each mask's token is the text's, and where
//          that is not allowed the text is refused in time.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <numeric>
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
#include "service/sequence.h"

ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(std::string, requests, "", "Schemas of examples/model_loop_python/requests.json.");
ABSL_FLAG(int, rare, 0, "Random schemas of rare keywords.");
ABSL_FLAG(std::string, schema, "", "One more schema.");
ABSL_FLAG(int, walks, 20, "Rows of each schema.");
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

void RunWalks(const std::string& group, const std::vector<Named>& schemas,
              const std::shared_ptr<TokenizerSpace>& space) {
  Times with;
  Times without;
  for (const Named& one : schemas) {
    const auto grammar = CompileForBench({"json_schema", one.schema, {}}, space);
    const int need = grammar.ok() ? NeedOf(*grammar) : 0;
    if (need == 0) continue;
    const auto closing = std::make_shared<ClosingMasks>();
    Random random(1);  // NOLINT(cert-msc51-cpp): the same rows in every run
    Times own;
    Times free;
    for (int i = 0; i < absl::GetFlag(FLAGS_walks); ++i) {
      Walk(*grammar, closing, 0, &random, &free);
      Walk(*grammar, closing, BudgetOf(need, &random), &random, &own);
    }
    if (absl::GetFlag(FLAGS_each)) {
      std::printf("%s\n", one.schema.substr(0, 300).c_str());
      own.Print(one.name);
      free.Print("  without");
    }
    with.Add(own);
    without.Add(free);
  }
  with.Print(group);
  without.Print("  without a budget");
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

absl::Status RunTexts(const std::shared_ptr<TokenizerSpace>& space) {
  const auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = absl::GetFlag(FLAGS_sample)});
  if (!cases.ok()) return cases.status();
  constexpr int kSpares[] = {0, 1, 8, 50, -1};
  Times all;
  int refused[5] = {};
  int texts = 0;
  for (const Case& one : *cases) {
    if (!absl::StrContains(one.schema, absl::GetFlag(FLAGS_with))) continue;
    const auto grammar = CompileForBench({"json_schema", one.schema, {}}, space);
    if (!grammar.ok()) continue;
    const auto closing = std::make_shared<ClosingMasks>();
    for (const Instance& instance : one.tests) {
      if (!instance.valid || instance.tokens.empty()) continue;
      if (static_cast<int>(instance.tokens.size()) > absl::GetFlag(FLAGS_most_tokens)) continue;
      if (!TakeDocument(*grammar, instance.tokens)) continue;
      ++texts;
      Times own;
      for (int i = 0; i < 5; ++i) {
        const int need = static_cast<int>(instance.tokens.size()) + 1;
        if (TakeText(*grammar, closing, instance.tokens, need + kSpares[i], &own)) continue;
        ++refused[i];
        if (absl::GetFlag(FLAGS_each) && kSpares[i] >= 0) {
          std::printf("refused at need + %d after %zu of %zu tokens: %s %s\n", kSpares[i],
                      own.micros.size(), instance.tokens.size(), one.id.c_str(),
                      instance.text.substr(0, 100).c_str());
        }
      }
      if (absl::GetFlag(FLAGS_each) && Percentile(own.micros, 100) > 5000) own.Print(one.id);
      all.Add(own);
    }
  }
  all.Print("texts");
  std::printf("%d texts; refused at need + 0: %d, 1: %d, 8: %d, 50: %d; at need - 1: %d\n", texts,
              refused[0], refused[1], refused[2], refused[3], refused[4]);
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
    Random random(5);  // NOLINT(cert-msc51-cpp): the same schemas in every run
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
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "closing_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
