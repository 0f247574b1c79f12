// MaskBench through the engine in process, one thread.
//
//   maskbench --cases open.jsonl.gz --tokenizer llama3.tiktoken --out results.jsonl
//   maskbench --cases open.jsonl.gz --tokenizer llama3.tiktoken --sample 500 --runs 5
//
// Reads and writes MaskBench's line formats (case_run.h has what is timed), and prints percentiles
// of all steps: masks that a state had already and new ones apart.
//
// Calls    a step's are timed one by one, less the time that reading the clock takes.
// Warm-up  after each schema's first mask, masks are made ahead for --warm_up_ms, as the service
//          does in the background while an engine reads its prompt; that time is printed apart.
// Ahead    masks a few tokens behind each place are made before its next token is taken, as the
//          service does while an engine chooses it; that time is printed apart, and so is a place's
//          that has been looked behind already.
// Stores   shared (the default): one mask store for the run, as in a server. fresh: emptied before
//          each schema.
// Runs     with --runs K the whole selection is run K times, each with stores of its own, and of
//          each step the smallest time is kept: what other programs on the machine add goes away,
//          what the engine does stays.
// Routes   with --routes the masks that each route (mask_routes/mask_routes.h) has made are
//          counted, in all runs, with the time that took, less that of masks made for their sake.
//          It costs some 50 ns a mask. --mask_route names one that makes all masks that it fits,
//          with walks and closures for the rest; --without_routes names some that are not taken.
//          What a route is worth is the difference (docs/design/mechanisms.md).
// Service  with --cases - and --out - each line in is answered by one line out at once, so that
//          another program can take turns between engines (bench/peers/compare).
// Bounds   60 s a schema, then it is a "timeout" (a step that hangs ends the program, naming it);
//          8 GiB of address space, beyond it is "oom".
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include <sys/resource.h>
#include <unistd.h>

#include "bench/case_run.h"
#include "bench/cases.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/compile/warm_up.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask_routes/mask_routes.h"

ABSL_FLAG(std::string, cases, "", "Cases: one JSON object a line, gzip or plain; - as they come.");
ABSL_FLAG(std::string, tokenizer, "",
          "Vocabulary file of scripts/fetch-vocab (empty: the embedded bytes).");
ABSL_FLAG(std::string, stop, "<|eot_id|>", "The token that ends a text.");
ABSL_FLAG(std::string, out, "", "Result lines go here, - is standard output. Empty: none.");
ABSL_FLAG(std::string, stores, "shared",
          "shared: one mask store for the run. fresh: one a schema.");
ABSL_FLAG(int, heap_mib, 512, "Heap touched before the run, as the service does.");
ABSL_FLAG(int, warm_up_ms, 10,
          "Time for masks made ahead after the first one, as in the service; 0: none.");
ABSL_FLAG(bool, look_ahead, true,
          "Make masks behind each place ahead of the next token, as in the service.");
ABSL_FLAG(std::string, split, "open", "Written into each result line.");
ABSL_FLAG(int, limit, 0, "Stop after so many schemas; 0 means all.");
ABSL_FLAG(int, sample, 0, "Only the schemas with the smallest SHA-256 of their id; 0 means all.");
ABSL_FLAG(std::string, schemas, "", "Only schemas with this text in their id.");
ABSL_FLAG(int, indent, -1,
          "Spaces a level of JSON on lines; the texts of the cases must be laid out so. -1: none.");
ABSL_FLAG(bool, routes, false, "Print how many masks each route has made, and in what time.");
ABSL_FLAG(std::string, mask_route, "", "Make masks by this route alone, wherever it fits.");
ABSL_FLAG(std::vector<std::string>, without_routes, {},
          "Do not take these routes, comma-separated.");
ABSL_FLAG(int, runs, 1, "Times that all of it is run; the smallest time of each step counts.");

namespace maskd::bench {
namespace {

constexpr int kSeconds = 60;
constexpr rlim_t kAddressSpace = rlim_t{8} << 30;

// The schema that runs, for the message of a hang.
std::string current_case;

void NameHang(int) {
  const char kText[] = "maskbench: no end after a minute and a half: ";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) > 0 &&
      write(STDERR_FILENO, current_case.data(), current_case.size()) > 0) {
    _exit(3);
  }
  _exit(3);
}

void SetBounds() {
  const rlimit space{kAddressSpace, kAddressSpace};
  setrlimit(RLIMIT_AS, &space);
  std::signal(SIGALRM, &NameHang);
}

CaseResult GuardedRun(const Case& one, const std::shared_ptr<TokenizerSpace>& space) {
  current_case = one.id;
  alarm(kSeconds * 3 / 2);
  if (absl::GetFlag(FLAGS_stores) == "fresh") space->masks().Clear();
  CaseResult result = RunCase(one, space,
                              {.stop = space->vocabulary().stop_ids().front(),
                               .seconds = kSeconds,
                               .warm_up_ms = absl::GetFlag(FLAGS_warm_up_ms),
                               .look_ahead = absl::GetFlag(FLAGS_look_ahead),
                               .indent = absl::GetFlag(FLAGS_indent)});
  alarm(0);
  return result;
}

void PrintStores(const TokenizerSpace& space) {
  const MaskStore::Stats stats = space.masks().stats();
  std::fprintf(
      stderr, "stored masks %lld, %.1f MiB, keys %lld\n", static_cast<long long>(stats.masks),
      static_cast<double>(stats.held_bytes) / (1 << 20), static_cast<long long>(stats.keys));
}

void PrintRoutes() {
  const auto counts = MaskRouteTally::Read();
  double all = 0;
  for (const MaskRouteTally::Count& count : counts) all += static_cast<double>(count.time.count());
  std::fprintf(stderr, "%-10s %10s %12s %12s %8s\n", "route", "masks", "ms", "us a mask", "share");
  for (std::size_t i = 0; i < kMaskRoutes; ++i) {
    const auto [masks, time] = counts[i];
    const auto nanoseconds = static_cast<double>(time.count());
    std::fprintf(stderr, "%-10s %10lld %12.1f %12.2f %7.1f%%\n",
                 std::string(MaskRouteTable()[i].name).c_str(), static_cast<long long>(masks),
                 nanoseconds / 1e6, masks == 0 ? 0 : nanoseconds / 1e3 / static_cast<double>(masks),
                 all == 0 ? 0 : 100 * nanoseconds / all);
  }
}

// As --mask_route and --without_routes say.
absl::Status SwitchRoutes() {
  const auto named = [](const std::string& name) -> absl::StatusOr<MaskRoute> {
    if (const auto route = MaskRouteNamed(name); route.has_value()) return *route;
    std::string names;
    for (const MaskRouteInfo& info : MaskRouteTable()) absl::StrAppend(&names, " ", info.name);
    return absl::InvalidArgumentError(absl::StrCat("no route ", name, "; there are", names));
  };
  if (const std::string only = absl::GetFlag(FLAGS_mask_route); !only.empty()) {
    const auto route = named(only);
    if (!route.ok()) return route.status();
    MaskRouteSwitch::Only(*route);
  }
  for (const std::string& name : absl::GetFlag(FLAGS_without_routes)) {
    const auto route = named(name);
    if (!route.ok()) return route.status();
    MaskRouteSwitch::Off(*route);
  }
  return absl::OkStatus();
}

// One line in, one line out.
absl::Status Serve(const std::shared_ptr<TokenizerSpace>& space) {
  const auto reader = CaseReader::Open("-");
  for (Case one;;) {
    const absl::StatusOr<bool> more = (*reader)->Next(&one);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    std::cout << ResultLine(GuardedRun(one, space), absl::GetFlag(FLAGS_split)) << std::endl;
  }
}

void PrintPercentiles(const char* name, const std::vector<double>& times) {
  std::fprintf(stderr, "%-22s %9zu", name, times.size());
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 100.0})
    std::fprintf(stderr, " %11.3f", Percentile(times, percent));
  std::fprintf(stderr, "\n");
}

void PrintSummary(const std::vector<CaseResult>& results) {
  std::vector<double> step, mask, known, made, accept, ttfm, warm_up, ahead;
  std::size_t compiled = 0;
  for (const CaseResult& result : results) {
    if (result.status != "ok") continue;
    ++compiled;
    ttfm.push_back(result.ttfm_us);
    warm_up.push_back(result.warm_up_us);
    ahead.insert(ahead.end(), result.ahead_us.begin(), result.ahead_us.end());
    const std::vector<double> steps = StepTimes(result);
    step.insert(step.end(), steps.begin(), steps.end());
    accept.insert(accept.end(), result.accept_us.begin(), result.accept_us.end());
    mask.insert(mask.end(), result.mask_us.begin(), result.mask_us.end());
    for (std::size_t i = 0; i < result.mask_us.size(); ++i)
      (result.mask_known[i] ? known : made).push_back(result.mask_us[i]);
  }
  std::fprintf(stderr, "%zu schemas, %zu compiled; microseconds\n", results.size(), compiled);
  std::fprintf(stderr, "%-22s %9s %11s %11s %11s %11s %11s\n", "", "count", "p50", "p90", "p99",
               "p99.9", "max");
  PrintPercentiles("mask and acceptance", step);
  PrintPercentiles("mask", mask);
  PrintPercentiles("  known to its state", known);
  PrintPercentiles("  new to its state", made);
  PrintPercentiles("acceptance", accept);
  PrintPercentiles("text to first mask", ttfm);
  PrintPercentiles("warm-up, aside", warm_up);
  PrintPercentiles("look-ahead, aside", ahead);
}

absl::Status WriteResults(const std::vector<CaseResult>& results) {
  const std::string path = absl::GetFlag(FLAGS_out);
  if (path.empty()) return absl::OkStatus();
  std::ofstream file;
  if (path != "-") file.open(path);
  std::ostream& out = path == "-" ? std::cout : file;
  for (const CaseResult& result : results)
    out << ResultLine(result, absl::GetFlag(FLAGS_split)) << "\n";
  out.flush();
  return out ? absl::OkStatus() : absl::UnavailableError("--out: cannot be written");
}

absl::Status RunFile(const std::shared_ptr<const Vocabulary>& vocabulary) {
  auto cases = ReadCases(absl::GetFlag(FLAGS_cases),
                         {absl::GetFlag(FLAGS_sample), absl::GetFlag(FLAGS_schemas)});
  if (!cases.ok()) return cases.status();
  const auto limit = static_cast<std::size_t>(absl::GetFlag(FLAGS_limit));
  if (limit > 0 && limit < cases->size()) cases->resize(limit);
  if (absl::GetFlag(FLAGS_routes)) MaskRouteTally::Enable();
  std::vector<CaseResult> results;
  for (int run = 0; run < absl::GetFlag(FLAGS_runs); ++run) {
    const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(vocabulary);
    WarmUpTokenizer(space);
    for (std::size_t i = 0; i < cases->size(); ++i) {
      CaseResult result = GuardedRun((*cases)[i], space);
      if (run == 0)
        results.push_back(std::move(result));
      else
        KeepMinima(result, &results[i]);
    }
    if (run == 0) PrintStores(*space);
  }
  PrintSummary(results);
  if (absl::GetFlag(FLAGS_routes)) PrintRoutes();
  return WriteResults(results);
}

absl::Status Run() {
  const std::string stores = absl::GetFlag(FLAGS_stores);
  if (stores != "shared" && stores != "fresh")
    return absl::InvalidArgumentError("--stores: shared or fresh");
  if (absl::Status switched = SwitchRoutes(); !switched.ok()) return switched;
  SetBounds();
  const auto vocabulary =
      LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), absl::GetFlag(FLAGS_stop));
  if (!vocabulary.ok()) return vocabulary.status();
  if (absl::GetFlag(FLAGS_cases) == "-") return Serve(TokenizerSpace::Create(*vocabulary));
  return RunFile(*vocabulary);
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("MaskBench through the engine in process; see bench/maskbench.cc.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(std::int64_t{absl::GetFlag(FLAGS_heap_mib)} << 20);
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "maskbench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
