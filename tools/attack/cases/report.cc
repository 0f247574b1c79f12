#include "tools/attack/cases/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace maskd::attack {

std::vector<std::string> Report::Judge(const AttackCase& attack, const CaseResult& result,
                                       Totals* totals) const {
  std::vector<std::string> lines = result.faults;
  totals->wrong += !result.faults.empty();
  totals->not_run += !result.missing_operations.empty();
  for (const std::string& missing : result.missing_operations)
    lines.push_back(absl::StrCat("NOT RUN: there is no operation ", missing));
  const double ms = clock_ == CaseClock::kCpu ? result.cpu_ms : result.wall_ms;
  if (clock_ != CaseClock::kNone && ms > static_cast<double>(attack.budget_ms)) {
    ++totals->late;
    lines.push_back(absl::StrFormat("late: %.0f ms of %d", ms, attack.budget_ms));
  }
  if (result.growth_mib > attack.budget_mib) {
    ++totals->over_memory;
    lines.push_back(absl::StrFormat("grew by %d MiB of %d", result.growth_mib, attack.budget_mib));
  }
  totals->slowest_ms = std::max(totals->slowest_ms, ms);
  totals->largest_growth_mib = std::max(totals->largest_growth_mib, result.growth_mib);
  return lines;
}

std::string Report::Add(const AttackCase& attack, const CaseResult& result) {
  Totals totals;
  totals.cases = 1;
  totals.refused = result.refused;
  std::string text;
  const auto say = [&](absl::string_view line) {
    absl::StrAppend(&text, attack.id, ": ", line, "\n");
  };
  if (!attack.correction.empty()) {
    totals.corrected = 1;
    say(absl::StrCat("corrected: ", attack.correction));
  }
  const auto known = known_.find(attack.id);
  if (!result.absent.empty()) {
    totals.absent = 1;
    say(absl::StrCat("absent: ", result.absent));
  } else if (known != known_.end()) {
    Totals ignored;
    const std::vector<std::string> lines = Judge(attack, result, &ignored);
    totals.known = 1;
    for (const std::string& line : lines) say(absl::StrCat("known, ", known->second, ": ", line));
    if (lines.empty()) say("is listed as known to fail, and passes");
  } else {
    const std::vector<std::string> lines = Judge(attack, result, &totals);
    totals.passed = lines.empty();
    for (const std::string& line : lines) say(line);
  }
  Sum(totals, &families_[attack.family]);
  return text;
}

void Report::Sum(const Totals& one, Totals* all) {
  all->cases += one.cases;
  all->refused += one.refused;
  all->passed += one.passed;
  all->wrong += one.wrong;
  all->late += one.late;
  all->over_memory += one.over_memory;
  all->not_run += one.not_run;
  all->known += one.known;
  all->absent += one.absent;
  all->corrected += one.corrected;
  all->slowest_ms = std::max(all->slowest_ms, one.slowest_ms);
  all->largest_growth_mib = std::max(all->largest_growth_mib, one.largest_growth_mib);
}

std::string Report::TableRow(const std::string& name, const Totals& totals) {
  return absl::StrFormat(
      "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.0f | %d |\n", name, totals.cases,
      totals.refused, totals.passed, totals.wrong, totals.late, totals.over_memory, totals.not_run,
      totals.known, totals.absent, totals.corrected, totals.slowest_ms, totals.largest_growth_mib);
}

std::string Report::Table() const {
  std::string text =
      "| family | cases | refused | passed | wrong | late | over memory | not run | known to fail "
      "| absent | "
      "of these corrected | slowest, ms | largest growth, MiB |\n"
      "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  Totals all;
  for (const auto& [name, totals] : families_) {
    absl::StrAppend(&text, TableRow(name, totals));
    Sum(totals, &all);
  }
  return absl::StrCat(text, TableRow("all", all));
}

bool Report::passed() const {
  Totals all;
  for (const auto& [name, totals] : families_) Sum(totals, &all);
  return all.passed > 0 && all.passed + all.known + all.absent == all.cases;
}

}  // namespace maskd::attack
