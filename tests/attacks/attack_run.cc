#include "tests/attacks/attack_run.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"
#include "tests/attacks/matcher_session.h"

namespace maskd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestMessage = 4096;

double ProcessorMs() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// A field of /proc/self/status, in bytes.
std::int64_t StatusField(absl::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, name)) continue;
    std::int64_t kib = 0;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return 0;
    return absl::SimpleAtoi(line.substr(digit, line.rfind(' ') - digit), &kib) ? kib << 10 : 0;
  }
  return 0;
}

std::string Shown(absl::string_view text) {
  constexpr std::size_t kShown = 60;
  if (text.size() <= kShown) return absl::StrCat("\"", text, "\"");
  return absl::StrCat("\"", text.substr(0, kShown), "...\" (", text.size(), " bytes)");
}

// What the README asks of every refusal.
std::vector<std::string> RefusalFaults(const AttackCase& attack, const absl::Status& refusal) {
  static constexpr absl::StatusCode kCodes[] = {
      absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnimplemented,
      absl::StatusCode::kResourceExhausted, absl::StatusCode::kDeadlineExceeded};
  std::vector<std::string> faults;
  const std::string code = absl::StatusCodeToString(refusal.code());
  const bool known = std::ranges::find(kCodes, refusal.code()) != std::end(kCodes);
  const bool named =
      attack.codes.empty() || std::ranges::find(attack.codes, code) != attack.codes.end();
  if (!known || !named) faults.push_back(absl::StrCat("refused with ", code));
  if (refusal.message().empty() || ErrorReason(refusal).empty()) {
    faults.push_back("the refusal does not say why");
  }
  if (refusal.message().size() > kLongestMessage) {
    faults.push_back(absl::StrCat("the refusal has ", refusal.message().size(), " bytes"));
  }
  if (!attack.may_be_refused) {
    faults.push_back(absl::StrCat("refused, though it must compile: ", refusal.message()));
  }
  return faults;
}

}  // namespace

std::int64_t ResidentMemory() { return StatusField("VmRSS:"); }
std::int64_t PeakMemory() { return StatusField("VmHWM:"); }
void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

AttackRunner::AttackRunner(std::shared_ptr<TokenizerSpace> space)
    : space_(std::move(space)), splitter_(space_->vocabulary()) {}

AttackResult AttackRunner::Run(const AttackCase& attack) const {
  AttackResult result;
  const std::vector<std::string> kinds = FrontEndKinds();
  result.supported = std::ranges::find(kinds, attack.format) != kinds.end();
  if (!result.supported) return result;
  absl::StatusOr<std::string> payload = attack.Payload();
  if (!payload.ok()) {
    result.faults.push_back(absl::StrCat("the case itself: ", payload.status().message()));
    return result;
  }
  ResetPeakMemory();
  const std::int64_t memory = ResidentMemory();
  const Clock::time_point start = Clock::now();
  const double cpu_start = ProcessorMs();
  Answer(attack, *std::move(payload), &result);
  result.cpu_ms = ProcessorMs() - cpu_start;
  result.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  result.growth_mib = std::max<std::int64_t>(PeakMemory() - memory, 0) >> 20;
  return result;
}

void AttackRunner::Answer(const AttackCase& attack, std::string payload,
                          AttackResult* result) const {
  const Limits limits;
  Budget budget{Budget::Bounds()};
  const double start = ProcessorMs();
  auto grammar = CompileGrammar({attack.format, std::move(payload), {}}, space_, limits, budget);
  result->compile_cpu_ms = ProcessorMs() - start;
  result->compile_units = budget.spent();
  result->answer = grammar.status();
  if (!grammar.ok()) {
    result->faults = RefusalFaults(attack, grammar.status());
    return;
  }
  if (attack.must_be_refused) result->faults.push_back("compiled, though it must be refused");
  for (const std::string& text : attack.accept) {
    MatcherSession session(*grammar, &splitter_);
    const absl::Status taken = session.TakeWhole(text);
    if (taken.ok()) continue;
    result->faults.push_back(absl::StrCat("refuses ", Shown(text), ": ", taken.message()));
  }
  for (const std::string& text : attack.reject) {
    MatcherSession session(*grammar, &splitter_);
    if (session.TakeWhole(text).ok()) {
      result->faults.push_back(absl::StrCat("lets ", Shown(text), " through"));
    }
  }
  MatcherSession session(*grammar, &splitter_);
  if (attack.needs_special_tokens) {
    const absl::Status masked = session.CheckSpecialTokens();
    if (!masked.ok()) result->faults.emplace_back(masked.message());
  }
  if (!attack.steps.is_null()) session.RunSteps(attack.steps, result);
}

}  // namespace maskd
