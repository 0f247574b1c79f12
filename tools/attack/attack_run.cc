// Reads the cases, runs one after the other at a target, and prints each as it ends, so that a
// crash shows how far it came. Beside a server a bystander asks all the time, and its times are
// judged too.
//
// Invariant  the case that runs is named in current_case before it begins, for the message of a
//            death.
// Bounds     kHeldMib after the last case; kBystanderMs at p99 for the bystander.
#include "tools/attack/attack_run.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/debugging/failure_signal_handler.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include <unistd.h>

#include "grammar_core/base/heap.h"
#include "grammar_core/base/sha256.h"
#include "grammar_core/tokenizer/loader.h"
#include "tools/attack/grammars/runner.h"
#include "tools/attack/servers/server_cases.h"
#include "tools/attack/targets/bystander.h"
#include "tools/attack/targets/library_target.h"
#include "tools/attack/targets/service_target.h"

namespace maskd::attack {
namespace {

constexpr std::int64_t kHeldMib = 64;
constexpr double kBystanderMs = 50;

// The case that runs, for the message of a death.
const char* current_case = "";

void WriteFailure(const char* text) {
  static constexpr char kCase[] = "died in case ";
  const bool last = text == nullptr;
  const ssize_t written = last ? write(STDERR_FILENO, kCase, sizeof kCase - 1) : 0;
  if (last && written > 0) text = current_case;
  if (text != nullptr && write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

absl::StatusOr<std::vector<AttackCase>> ReadCases(const RunOptions& options) {
  std::vector<std::string> files;
  for (const std::string& file : options.files) {
    std::error_code error;
    if (!std::filesystem::is_directory(file, error)) {
      files.push_back(file);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(file, error))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<AttackCase> all;
  for (const std::string& file : files) {
    absl::StatusOr<std::vector<AttackCase>> cases = ReadAttackCases(file);
    if (!cases.ok()) return cases.status();
    std::ranges::move(*cases, std::back_inserter(all));
  }
  if (options.only.empty()) return all;
  std::erase_if(all, [&](const AttackCase& attack) {
    return std::ranges::find(options.only, attack.id) == options.only.end();
  });
  return all;
}

double At(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last + 0.5)];
}

// The requests of another connection beside all cases; absent for the library.
class Beside {
 public:
  explicit Beside(std::unique_ptr<Bystander> bystander) : bystander_(std::move(bystander)) {}

  void BeginCase() {
    if (bystander_ != nullptr) bystander_->TakeTimes();
  }
  void EndCase(const AttackCase& attack, CaseResult* result) {
    if (bystander_ == nullptr) return;
    const std::vector<double> times = bystander_->TakeTimes();
    times_.insert(times_.end(), times.begin(), times.end());
    for (const double ms : times) {
      if (ms > worst_ms_) worst_ = attack.id;
      worst_ms_ = std::max(worst_ms_, ms);
    }
    const std::string fault = bystander_->TakeFault();
    if (!fault.empty())
      result->faults.push_back(absl::StrCat("a request of another connection: ", fault));
  }
  // Prints its times; whether they are within the bound.
  bool Print() {
    if (bystander_ == nullptr || times_.empty()) return true;
    std::ranges::sort(times_);
    absl::PrintF(
        "requests of another connection: %d, p50 %.1f ms, p99 %.1f ms, slowest %.0f ms in %s\n",
        times_.size(), At(times_, 0.5), At(times_, 0.99), worst_ms_, worst_);
    return At(times_, 0.99) <= kBystanderMs;
  }

 private:
  std::unique_ptr<Bystander> bystander_;
  std::vector<double> times_;
  std::string worst_;
  double worst_ms_ = 0;
};

// Prints what the process holds 5 s after the last case; whether that is within the bound.
bool MemoryCameBack(Runner* runner) {
  const std::optional<Runner::Held> held = runner->HeldAfterwards();
  if (!held.has_value()) {
    absl::PrintF("memory held after the last case: cannot be seen from here\n");
    return true;
  }
  absl::PrintF("held 5 s after the last case: %d MiB, of which %d MiB in caches\n", held->all_mib,
               held->cached_mib);
  return held->all_mib - held->cached_mib <= kHeldMib;
}

absl::StatusOr<bool> RunAll(Runner* runner, Beside* beside, const RunOptions& options) {
  const absl::StatusOr<std::vector<AttackCase>> cases = ReadCases(options);
  if (!cases.ok()) return cases.status();
  absl::FailureSignalHandlerOptions handler;
  handler.writerfn = &WriteFailure;
  absl::InstallFailureSignalHandler(handler);
  Report report(options.clock, options.known);
  for (const AttackCase& attack : *cases) {
    current_case = attack.id.c_str();
    beside->BeginCase();
    CaseResult result = runner->Run(attack);
    beside->EndCase(attack, &result);
    absl::PrintF("%s", report.Add(attack, result));
    std::fflush(stdout);
    if (!runner->IsAlive()) break;
  }
  absl::PrintF("\n%s\n", report.Table());
  const bool alive = runner->IsAlive();
  absl::PrintF("deaths: %d\n", alive ? 0 : 1);
  const bool returned = MemoryCameBack(runner);
  const bool in_time = beside->Print() || options.clock != CaseClock::kWall;
  return alive && returned && in_time && report.passed();
}

}  // namespace

absl::StatusOr<bool> AttackServer(const ServerAccess& server, const RunOptions& options) {
  auto target = ServiceTarget::Connect(server);
  if (!target.ok()) return target.status();
  auto bystander = Bystander::Start(server);
  if (!bystander.ok()) return bystander.status();
  Beside beside(*std::move(bystander));
  const auto times =
      options.clock == CaseClock::kWall ? ServerCases::Times::kHeld : ServerCases::Times::kWaited;
  ServerCases server_cases(server, target->get(), times);
  Runner runner({.target = target->get(),
                 .process = server.process,
                 .server_case = [&](const AttackCase& attack, CaseResult* result) {
                   server_cases.Run(attack, result);
                 }});
  return RunAll(&runner, &beside, options);
}

absl::StatusOr<bool> AttackLibrary(const std::string& tokenizer, const std::string& special,
                                   const RunOptions& options) {
  VocabularySource source;
  source.name = "attack";
  source.path = tokenizer;
  if (!tokenizer.empty()) source.special_preset = special;
  const auto vocabulary = LoadVocabulary(source);
  if (!vocabulary.ok()) return vocabulary.status();
  LibraryTarget target(TokenizerSpace::Create(*vocabulary));
  Runner runner({.target = &target, .process = ProcessWatch(), .trim = &ReturnFreePages});
  Beside nobody(nullptr);
  return RunAll(&runner, &nobody, options);
}

absl::Status PrintPayloads(const RunOptions& options) {
  const absl::StatusOr<std::vector<AttackCase>> cases = ReadCases(options);
  if (!cases.ok()) return cases.status();
  for (const AttackCase& attack : *cases) {
    if (attack.is_of_a_server()) continue;
    const absl::StatusOr<std::string> payload = attack.Payload();
    if (!payload.ok()) return payload.status();
    const std::string texts =
        absl::StrCat(absl::StrJoin(attack.accept, "\n"), "\n", absl::StrJoin(attack.reject, "\n"));
    absl::PrintF("%s %d %s %s\n", attack.id, payload->size(), Sha256Hex(*payload),
                 Sha256Hex(texts));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::map<std::string, std::string> known;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos)
      return absl::InvalidArgumentError(absl::StrCat(path, ": \"", line, "\" has no reason"));
    known[line.substr(0, space)] = line.substr(space + 1);
  }
  return known;
}

}  // namespace maskd::attack
