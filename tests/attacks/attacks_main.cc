// Runs families of the attack set through the engine, every case in this one process, and holds
// them to the rules of the set's README.
//
//   attacks [--tokenizer FILE --special llama3] [--clock wall|cpu|none] ../shared/attacks
//   attacks --expand ../shared/attacks/counts.jsonl      id, bytes and SHA-256 of each payload
//
// Output   one line a fault, then a table of totals by kind of case. Cases of the service (kinds
//          protocol and transport) are not run here, formats without a front end are counted apart.
// Exit     0: no fault. 1: a fault. 2: a file cannot be read. 77: there is no such file. A death
//          names its case.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/debugging/failure_signal_handler.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <unistd.h>

#include "grammar_core/base/sha256.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/attacks/attack_case.h"
#include "tests/attacks/attack_run.h"

ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file (empty: the embedded bytes).");
ABSL_FLAG(std::string, special, "llama3", "Special-token preset of the vocabulary file.");
ABSL_FLAG(std::string, clock, "wall",
          "What is held to a case's budget: wall, cpu (on a machine that others use too), or none "
          "(memory neither).");
ABSL_FLAG(bool, units, false,
          "Print what each compile took: units of work, processor time, nanoseconds a unit.");
ABSL_FLAG(bool, expand, false, "Print what the cases' payloads are, and run nothing.");

namespace maskd {
namespace {

constexpr std::int64_t kHeldMib = 64;
constexpr int kSkipped = 77;

// The case that runs, for the message of a death.
const char* current_case = "";

void WriteFailure(const char* text) {
  static constexpr char kCase[] = "died in case ";
  const bool last = text == nullptr;
  const ssize_t written = last ? write(STDERR_FILENO, kCase, sizeof kCase - 1) : 0;
  if (last && written > 0) text = current_case;
  if (text != nullptr && write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

struct Totals {
  int run = 0;
  int compiled = 0;
  int refused = 0;
  int wrong = 0;
  int over_time = 0;
  int over_memory = 0;
  int unsupported = 0;
  double worst_ms = 0;
  std::int64_t worst_mib = 0;
};

std::vector<std::string> Files(const std::vector<char*>& arguments) {
  std::vector<std::string> files;
  for (const char* argument : arguments) {
    if (!std::filesystem::is_directory(argument)) {
      files.emplace_back(argument);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argument)) {
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void PrintPayload(const AttackCase& attack) {
  const absl::StatusOr<std::string> payload = attack.Payload();
  const std::string texts =
      absl::StrCat(absl::StrJoin(attack.accept, "\n"), "\n", absl::StrJoin(attack.reject, "\n"));
  std::printf("%s %zu %s %s\n", attack.id.c_str(), payload.ok() ? payload->size() : 0,
              payload.ok() ? Sha256Hex(*payload).c_str() : payload.status().ToString().c_str(),
              Sha256Hex(texts).c_str());
}

void JudgeCost(const AttackCase& attack, const AttackResult& result, Totals* totals) {
  const char* id = attack.id.c_str();
  const double ms = absl::GetFlag(FLAGS_clock) == "cpu" ? result.cpu_ms : result.wall_ms;
  if (ms > static_cast<double>(attack.budget_ms)) {
    ++totals->over_time;
    std::printf("%s: %.0f ms of %lld\n", id, ms, static_cast<long long>(attack.budget_ms));
  }
  if (result.growth_mib > attack.budget_mib) {
    ++totals->over_memory;
    std::printf("%s: grew by %lld MiB of %lld\n", id, static_cast<long long>(result.growth_mib),
                static_cast<long long>(attack.budget_mib));
  }
  totals->worst_ms = std::max(totals->worst_ms, ms);
  totals->worst_mib = std::max(totals->worst_mib, result.growth_mib);
}

// Prints what is wrong with one case and counts it.
void Judge(const AttackCase& attack, const AttackResult& result, Totals* totals) {
  const char* id = attack.id.c_str();
  if (!result.supported) {
    ++totals->unsupported;
    return;
  }
  ++totals->run;
  ++(result.answer.ok() ? totals->compiled : totals->refused);
  totals->wrong += !result.faults.empty();
  for (const std::string& fault : result.faults) std::printf("%s: %s\n", id, fault.c_str());
  for (const std::string& missing : result.missing_operations) {
    std::printf("%s: NOT RUN: there is no operation %s\n", id, missing.c_str());
  }
  if (absl::GetFlag(FLAGS_units)) {
    const auto units = static_cast<double>(std::max<std::int64_t>(1, result.compile_units));
    std::printf("%s: %.0f units, %.1f ms, %.0f ns each\n", id, units, result.compile_cpu_ms,
                1e6 * result.compile_cpu_ms / units);
  }
  if (absl::GetFlag(FLAGS_clock) != "none") JudgeCost(attack, result, totals);
}

void PrintTable(const std::map<std::string, Totals>& kinds) {
  std::printf(
      "\n| kind | run | compiled | refused | wrong | over time | over memory | slowest, ms | "
      "largest growth, MiB | format not supported |\n"
      "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const auto& [kind, totals] : kinds) {
    std::printf("| %s | %d | %d | %d | %d | %d | %d | %.0f | %lld | %d |\n", kind.c_str(),
                totals.run, totals.compiled, totals.refused, totals.wrong, totals.over_time,
                totals.over_memory, totals.worst_ms, static_cast<long long>(totals.worst_mib),
                totals.unsupported);
  }
}

// Whether what is held 5 s after the last case is within the bound.
bool MemoryCameBack(std::int64_t before, const TokenizerSpace& space) {
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const std::int64_t held = (ResidentMemory() - before) >> 20;
  const std::int64_t stored = space.masks().stats().held_bytes >> 20;
  std::printf("\nheld 5 s after the last case: %lld MiB, of which %lld MiB stored masks\n",
              static_cast<long long>(held), static_cast<long long>(stored));
  return held - stored <= kHeldMib;
}

int Run(const std::vector<char*>& arguments) {
  VocabularySource source;
  source.name = "attacks";
  source.path = absl::GetFlag(FLAGS_tokenizer);
  if (!source.path.empty()) source.special_preset = absl::GetFlag(FLAGS_special);
  const auto vocabulary = LoadVocabulary(source);
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "--tokenizer: %s\n", vocabulary.status().ToString().c_str());
    return 2;
  }
  const std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  const AttackRunner runner(space);
  std::map<std::string, Totals> kinds;
  const std::int64_t before = ResidentMemory();
  int ran = 0;
  for (const std::string& file : Files(arguments)) {
    const auto cases = ReadAttackCases(file);
    if (!cases.ok()) {
      std::fprintf(stderr, "%s\n", cases.status().ToString().c_str());
      return absl::IsNotFound(cases.status()) ? kSkipped : 2;
    }
    for (const AttackCase& attack : *cases) {
      if (attack.format == "service") continue;
      if (absl::GetFlag(FLAGS_expand)) {
        PrintPayload(attack);
        continue;
      }
      current_case = attack.id.c_str();
      Judge(attack, runner.Run(attack), &kinds[attack.kind]);
      std::fflush(stdout);
    }
  }
  if (absl::GetFlag(FLAGS_expand)) return 0;
  PrintTable(kinds);
  bool good = absl::GetFlag(FLAGS_clock) == "none" || MemoryCameBack(before, *space);
  for (const auto& [kind, totals] : kinds) {
    good = good && totals.wrong + totals.over_time + totals.over_memory == 0;
    ran += totals.run;
  }
  return good && ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Runs families of the attack set; see tests/attacks.");
  std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  arguments.erase(arguments.begin());
  absl::FailureSignalHandlerOptions handler;
  handler.writerfn = &maskd::WriteFailure;
  absl::InstallFailureSignalHandler(handler);
  return maskd::Run(arguments);
}
