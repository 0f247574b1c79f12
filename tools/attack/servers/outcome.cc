#include "tools/attack/servers/outcome.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace maskd::attack {
namespace {

constexpr std::size_t kLongestMessage = 4096;
// Judged by their operation, which says what is wrong.
constexpr std::array<absl::string_view, 7> kJudgedBefore = {
    "SERVING", "SAME_MASK", "OTHER_KEY", "ESCAPED", "SAME_ERROR", "TAIL_ZERO", "OK_FOR_OTHERS"};
constexpr std::array<absl::string_view, 4> kRefusals = {"INVALID_ARGUMENT", "UNIMPLEMENTED",
                                                        "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"};

template <typename Words>
bool Has(const Words& words, absl::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

bool IsMet(absl::string_view want, const Outcome& outcome) {
  const std::string code = absl::StatusCodeToString(outcome.status.code());
  if (want == "CLOSED") return outcome.is_closed;
  if (want == "QUEUED") return outcome.is_queued;
  if (want == "OK_PER_ROW_ERROR" || Has(kJudgedBefore, want)) return outcome.status.ok();
  if (want == "REFUSED") return Has(kRefusals, code);
  if (want == "INVALID") return code == "INVALID_ARGUMENT";
  if (absl::ConsumePrefix(&want, "ROW_")) return outcome.is_of_a_row && code == want;
  return code == want;
}

bool IsAnyMet(const std::string& want, const Outcome& outcome,
              const std::vector<std::string>& codes) {
  bool wants_success = false;
  for (const absl::string_view each : absl::StrSplit(want, "_OR_")) {
    if (IsMet(each, outcome)) return true;
    wants_success = wants_success || absl::StartsWith(each, "OK") || Has(kJudgedBefore, each);
  }
  const bool in_row = absl::StartsWith(want, "ROW_");
  return !wants_success && !outcome.status.ok() && in_row <= outcome.is_of_a_row &&
         Has(codes, absl::StatusCodeToString(outcome.status.code()));
}

}  // namespace

Outcome Outcome::Fault(std::string what) {
  Outcome outcome;
  outcome.fault = std::move(what);
  return outcome;
}

Outcome Outcome::Absent(std::string what) {
  Outcome outcome;
  outcome.absent = std::move(what);
  return outcome;
}

Outcome Outcome::Unknown() {
  Outcome outcome;
  outcome.is_known = false;
  return outcome;
}

std::string JudgeOutcome(const Outcome& outcome, const nlohmann::json& step,
                         const std::vector<std::string>& codes) {
  if (!outcome.fault.empty()) return outcome.fault;
  if (outcome.status.message().size() > kLongestMessage)
    return absl::StrCat("the refusal has ", outcome.status.message().size(), " bytes");
  const bool failed = absl::IsInternal(outcome.status) || absl::IsUnknown(outcome.status);
  const bool has_want = step.contains("want") && step["want"].is_string();
  if (!has_want) {
    const bool right = outcome.any_answer ? !failed : outcome.status.ok();
    return right ? "" : outcome.status.ToString();
  }
  const std::string want = step["want"];
  if (IsAnyMet(want, outcome, codes)) return "";
  return absl::StrCat("wants ", want, ", has ", outcome.is_of_a_row ? "of its row " : "",
                      outcome.status.ToString(), outcome.is_closed ? ", closed" : "");
}

}  // namespace maskd::attack
