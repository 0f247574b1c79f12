// One hard load on a running server, for bench/bystanders.py, which says what each is for.
//
//   heavy_load --server unix:/tmp/maskd.sock --tokenizer llama3 --load drafts --seconds 10
//
// Prints one JSON object: what the server got done. Exit status 1: the load ended by an error.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>

#include "bench/cases.h"
#include "bench/heavy_calls.h"
#include "bench/heavy_streams.h"
#include "bench/rare_schemas.h"
#include "bench/samples.h"

ABSL_FLAG(std::string, server, "", "Address of a running maskd.");
ABSL_FLAG(std::string, tokenizer, "", "Its tokenizer; empty for its default.");
ABSL_FLAG(std::string, load, "", "See kLoads.");
ABSL_FLAG(double, seconds, 10, "How long.");
ABSL_FLAG(std::string, cases, "", "MaskBench cases, for compiles.");
ABSL_FLAG(bool, slowest, true, "Compiles of the slowest schemas of those; else of 300 of them.");
ABSL_FLAG(int, at_once, 8, "Compiles that are open at once, in `compiles` and `waiting`.");
ABSL_FLAG(double, per_second, 100, "Compiles that begin, in `overload`.");
ABSL_FLAG(int, watchers, 520, "Watchers of health, in `waiting`.");

namespace maskd::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRows = 64;
constexpr int kSample = 300;

Json TimesOf(const std::vector<double>& times) {
  return {{"count", times.size()},
          {"p50", Percentile(times, 50)},
          {"p99", Percentile(times, 99)},
          {"max", Percentile(times, 100)}};
}

Json Said(const HeavyWork& work) {
  std::vector<double> millis = work.micros;
  for (double& each : millis) each /= 1e3;
  return {{"steps", work.steps}, {"tokens", work.tokens}, {"failed", work.failed},
          {"fault", work.fault}, {"bytes", work.bytes},   {"step_ms", TimesOf(millis)}};
}

Json Said(const CallTimes& times) {
  return {{"sent", times.sent},
          {"failed", times.failed},
          {"fault", times.fault},
          {"seconds", times.seconds},
          {"done_a_second", static_cast<double>(times.done.size()) / times.seconds},
          {"sent_a_second", static_cast<double>(times.sent) / times.seconds},
          {"done_ms", TimesOf(times.done)},
          {"refused_ms", TimesOf(times.refused)}};
}

Json Said(const ProbeTimes& times) {
  return {{"health_ms", TimesOf(times.health)}, {"compile_ms", TimesOf(times.compile)}};
}

template <typename Result>
absl::StatusOr<Json> Say(const absl::StatusOr<Result>& result) {
  if (!result.ok()) return result.status();
  return Said(*result);
}

absl::StatusOr<std::vector<std::string>> Schemas() {
  // Those at the head of bench/slowest.py's list of compiles, notebook.md.
  const std::vector<std::string> kSlowest = {
      "allany14", "jfrog-pipelines", "web-types",      "allany16",
      "vega",     "allany23",        "saucectl.schema"};
  const bool slowest = absl::GetFlag(FLAGS_slowest);
  auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = slowest ? 0 : kSample});
  if (!cases.ok()) return cases.status();
  std::vector<std::string> schemas;
  for (Case& each : *cases) {
    const auto is_named = [&](const std::string& name) { return absl::StrContains(each.id, name); };
    if (slowest && std::ranges::none_of(kSlowest, is_named)) continue;
    if (each.schema.size() > 2 && each.schema.front() == '{') schemas.push_back(each.schema);
  }
  if (schemas.empty()) return absl::NotFoundError("no schema");
  return schemas;
}

HeavyOptions Options() {
  return {.address = absl::GetFlag(FLAGS_server),
          .tokenizer = absl::GetFlag(FLAGS_tokenizer),
          .time = absl::Seconds(absl::GetFlag(FLAGS_seconds))};
}

absl::StatusOr<Json> NearEnd(const std::vector<std::string>& schemas) {
  return Say(WalkNearEnd(Options(), schemas, kRows));
}

absl::StatusOr<Json> Rare() {
  std::mt19937_64 random(3);
  std::vector<std::string> schemas;
  for (int i = 0; i < kRows; ++i) schemas.push_back(RareSchema(&random));
  return NearEnd(schemas);
}

absl::StatusOr<Json> Compiles(int same, bool keeps) {
  auto schemas = Schemas();
  if (!schemas.ok()) return schemas.status();
  const CompileCalls calls{*std::move(schemas), same};
  if (keeps) return Say(KeepCompiling(Options(), calls, absl::GetFlag(FLAGS_at_once)));
  return Say(SendCompiles(Options(), calls, absl::GetFlag(FLAGS_per_second)));
}

absl::StatusOr<Json> Waiting() {
  constexpr int kOfOneGrammar = 125;
  const auto watchers = Watchers::Open(absl::GetFlag(FLAGS_server), absl::GetFlag(FLAGS_watchers));
  if (!watchers.ok()) return watchers.status();
  return Compiles(kOfOneGrammar, true);
}

const std::map<std::string, std::function<absl::StatusOr<Json>()>>& Loads() {
  static const auto& loads = *new std::map<std::string, std::function<absl::StatusOr<Json>()>>{
      {"unique",
       [] {
         return NearEnd({R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})"});
       }},
      {"min_properties",
       [] {
         return NearEnd({R"({"type":"object","minProperties":2,)"
                         R"("additionalProperties":{"type":"string"}})"});
       }},
      {"if",
       [] {
         return NearEnd({R"({"type":"object","properties":{"kind":{"enum":["a","b"]},)"
                         R"("name":{"type":"string"}},"required":["kind","name"],)"
                         R"("if":{"properties":{"kind":{"const":"a"}}},)"
                         R"("then":{"properties":{"name":{"minLength":3}}},)"
                         R"("else":{"required":["more"]}})"});
       }},
      {"contains",
       [] {
         return NearEnd({R"({"type":"array","items":{"type":"string"},)"
                         R"("contains":{"pattern":"^[a-c]{2,4}$"},"minContains":2})"});
       }},
      {"rare", &Rare},
      {"drafts", [] { return Say(SendDrafts(Options(), 1000, 400)); }},
      {"words", [] { return Say(SendWords(Options(), 1000, 1700)); }},
      {"replay", [] { return Say(Replay(Options(), 256, 4000)); }},
      {"snapshots", [] { return Say(TakeSnapshots(Options(), 256, 4000)); }},
      {"new_texts", [] { return Say(OpenNewTexts(Options(), 64, 16'000)); }},
      {"compiles", [] { return Compiles(1, true); }},
      {"overload", [] { return Compiles(1, false); }},
      {"waiting", &Waiting},
      {"probe", [] { return Say(Probe(Options())); }},
  };
  return loads;
}

int Main() {
  const auto load = Loads().find(absl::GetFlag(FLAGS_load));
  if (load == Loads().end()) {
    for (const auto& [name, run] : Loads()) std::fprintf(stderr, "--load %s\n", name.c_str());
    return 2;
  }
  const absl::StatusOr<Json> said = load->second();
  if (!said.ok()) {
    std::fprintf(stderr, "heavy_load: %s\n", said.status().ToString().c_str());
    return 1;
  }
  std::printf("%s\n", said->dump().c_str());
  return 0;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("one hard load on a running server; see the head of its source");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Main();
}
