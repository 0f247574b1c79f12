// Compiles of chat requests with tools: source text to grammar, first mask included, in process.
//
//   tools_bench --vocab build/vocab/qwen3/tokenizer.json --family qwen_3
//
// Requests  of 1, 10, 50 and 200 tools, each request another one:
//           new      every tool has been met in no request before
//           changed  one tool is new, the others stood in the request before
//           known    every tool stood in a request before, but not these together
// Figures   milliseconds, wall or processor time, whichever is less: p50 and p99 of the requests of
//           all rounds. The medians of the wall time up to the reduced IR and of the first mask.
// Rounds    in turns, each with a store of masks as the rounds before left it.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "bench/cases.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/compile/compiler.h"

ABSL_FLAG(std::string, vocab, "", "A vocabulary's file; empty: the embedded bytes.");
ABSL_FLAG(std::string, family, "qwen_3", "A family of models.");
ABSL_FLAG(std::vector<std::string>, tools, (std::vector<std::string>{"1", "10", "50", "200"}),
          "Tools of a request.");
ABSL_FLAG(int, requests, 20, "Requests of each kind and round.");
ABSL_FLAG(int, rounds, 5, "Rounds.");

namespace maskd::bench {
namespace {

// A tool of five parameters; another `version` is another schema of the same name.
std::string Tool(int index, int version) {
  return absl::StrCat(
      R"({"type":"function","function":{"name":"tool_)", index, R"(","description":"does )", index,
      R"(","parameters":{"type":"object","properties":{"path":{"type":"string","description":)",
      R"("a path"},"count":{"type":"integer","minimum":0,"maximum":)", 100 + index,
      R"(},"mode":{"enum":["r","w","x)", index, "_", version,
      R"("]},"items":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},)",
      R"("b":{"type":"number"}},"required":["a"],"additionalProperties":false}},"flag":{"type":)",
      R"("boolean"}},"required":["path","mode"],"additionalProperties":false}}})");
}

std::string Request(const std::vector<std::string>& tools) {
  return absl::StrCat(R"({"family":")", absl::GetFlag(FLAGS_family), R"(","request":{"tools":[)",
                      absl::StrJoin(tools, ","), "]}}");
}

struct Times {
  std::vector<double> compile;
  std::vector<double> reduce;
  std::vector<double> first_mask;
};

double ProcessorMicros() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

absl::Status Measure(const std::vector<std::string>& tools,
                     const std::shared_ptr<TokenizerSpace>& space, Times* times) {
  const GrammarSource source = {"chat", Request(tools), {}};
  Budget budget{Budget::Bounds()};
  const Clock::time_point begin = Clock::now();
  const double processor = ProcessorMicros();
  const auto grammar = CompileGrammar(source, space, Limits(), budget);
  const double elapsed = std::min(ProcessorMicros() - processor, MicrosSince(begin));
  if (!grammar.ok()) return grammar.status();
  times->compile.push_back(elapsed);
  times->reduce.push_back(static_cast<double>((*grammar)->costs().reduce_us));
  times->first_mask.push_back(static_cast<double>((*grammar)->costs().first_mask_us));
  return absl::OkStatus();
}

// Requests of `count` tools. No version is used twice.
class Requests {
 public:
  Requests(int count, int* version) : count_(count), version_(*version) {}

  std::vector<std::string> New() {
    ++version_;
    tools_.clear();
    for (int i = 0; i < count_; ++i) tools_.push_back(Tool(i, version_));
    return tools_;
  }
  std::vector<std::string> Changed() {
    const int last = count_ - 1;
    tools_[static_cast<std::size_t>(last)] = Tool(last, ++version_);
    return tools_;
  }
  // Tools of two requests: version_ must have been used for all.
  std::vector<std::string> Known(int earlier, int at) const {
    std::vector<std::string> tools;
    for (int i = 0; i < count_; ++i)
      tools.push_back(Tool(i, i % 20 == at % 20 && i != at ? earlier : earlier + 1));
    return tools;
  }
  [[nodiscard]] int version() const { return version_; }

 private:
  const int count_;
  int& version_;
  std::vector<std::string> tools_;
};

struct Kinds {
  Times fresh;
  Times changed;
  Times known;
};

absl::Status Round(int count, const std::shared_ptr<TokenizerSpace>& space, int* version,
                   Kinds* kinds) {
  Requests requests(count, version);
  const int each = absl::GetFlag(FLAGS_requests);
  absl::Status status;
  for (int i = 0; i < each && status.ok(); ++i)
    status = Measure(requests.New(), space, &kinds->fresh);
  const int earlier = requests.version() - 1;
  for (int i = 0; i < each && status.ok(); ++i)
    status = Measure(requests.Changed(), space, &kinds->changed);
  for (int i = 0; i < each && status.ok(); ++i)
    status = Measure(requests.Known(earlier, i), space, &kinds->known);
  return status;
}

void Print(int count, const char* kind, const Times& times) {
  std::printf("%4d tools  %-8s p50 %7.2f  p99 %7.2f  to IR %7.2f  first mask %6.2f\n", count, kind,
              Percentile(times.compile, 50) / 1e3, Percentile(times.compile, 99) / 1e3,
              Percentile(times.reduce, 50) / 1e3, Percentile(times.first_mask, 50) / 1e3);
}

int Main() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_vocab), "");
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "%s\n", vocabulary.status().ToString().c_str());
    return 2;
  }
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  std::vector<int> counts;
  for (const std::string& count : absl::GetFlag(FLAGS_tools)) counts.push_back(std::stoi(count));
  std::vector<Kinds> kinds(counts.size());
  int version = 0;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const absl::Status status = Round(counts[i], space, &version, &kinds[i]);
      if (status.ok()) continue;
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Print(counts[i], "new", kinds[i].fresh);
    Print(counts[i], "changed", kinds[i].changed);
    Print(counts[i], "known", kinds[i].known);
  }
  return 0;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times compiles of chat requests with tools.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(512 << 20);  // as the service does
  return maskd::bench::Main();
}
