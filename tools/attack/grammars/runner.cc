#include "tools/attack/grammars/runner.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tools/attack/grammars/grammar_case.h"

namespace maskd::attack {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAfterTheLast{5};

}  // namespace

Runner::Runner(Options options) : options_(std::move(options)) {
  resident_before_ = Resident();
  cached_before_ = options_.target->CachedBytes();
}

std::int64_t Runner::Resident() const {
  options_.trim();
  return options_.process.has_value() ? options_.process->Resident() : 0;
}

bool Runner::IsAlive() const {
  return !options_.process.has_value() || options_.process->IsAlive();
}

CaseResult Runner::Run(const AttackCase& attack) {
  CaseResult result;
  if (attack.is_of_a_server() && !options_.server_case) {
    result.absent = "a server";
    return result;
  }
  try {
    RunWithin(attack, &result);
  } catch (const nlohmann::json::exception& error) {  // an operation lacks what it needs
    result.faults.push_back(absl::StrCat("the case itself: ", error.what()));
  }
  options_.target->EndCase();
  if (!IsAlive()) result.faults.push_back("the server's process has ended");
  return result;
}

void Runner::RunWithin(const AttackCase& attack, CaseResult* result) {
  absl::StatusOr<std::string> payload;
  if (!attack.is_of_a_server()) {
    payload = attack.Payload();
    if (!payload.ok()) {
      result->faults.push_back(absl::StrCat("the case itself: ", payload.status().message()));
      return;
    }
  }
  const std::optional<ProcessWatch>& process = options_.process;
  const std::int64_t memory = Resident();
  if (process.has_value()) process->ResetPeak();
  const double cpu = process.has_value() ? process->CpuSeconds() : 0;
  const auto begin = SteadyClock::now();
  if (attack.is_of_a_server())
    options_.server_case(attack, result);
  else
    RunGrammarCase(attack, *std::move(payload), options_.target, result);
  const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begin;
  result->wall_ms = took.count() - result->idle_ms;
  if (!process.has_value()) return;
  result->cpu_ms = (process->CpuSeconds() - cpu) * 1e3;
  result->growth_mib = std::max<std::int64_t>(process->Peak() - memory, 0) >> 20;
}

std::optional<Runner::Held> Runner::HeldAfterwards() {
  if (!options_.process.has_value() || !IsAlive()) return std::nullopt;
  std::this_thread::sleep_for(kAfterTheLast);
  Held held;
  held.all_mib = (Resident() - resident_before_) >> 20;
  held.cached_mib =
      std::max<std::int64_t>(options_.target->CachedBytes() - cached_before_, 0) >> 20;
  return held;
}

}  // namespace maskd::attack
