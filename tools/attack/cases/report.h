// What a run of the attack set comes to: a line for each fault, a table by family, a verdict.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_CASES_REPORT_H_
#define MASKD_TOOLS_ATTACK_CASES_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/attack/cases/attack_case.h"
#include "tools/attack/cases/case_result.h"

namespace maskd::attack {

// What time is held to a case's budget.
enum class CaseClock { kWall, kCpu, kNone };

// Counts cases as they end; one for each run.
class Report {
 public:
  // `known` has cases that are known to fail, and why: they are counted apart.
  Report(CaseClock clock, std::map<std::string, std::string> known)
      : clock_(clock), known_(std::move(known)) {}

  // Counts the case and gives its lines, each with its end.
  std::string Add(const AttackCase& attack, const CaseResult& result);

  // Markdown, a row a family.
  [[nodiscard]] std::string Table() const;
  // Whether nothing failed but what is known to, and anything was run.
  [[nodiscard]] bool passed() const;

 private:
  struct Totals {
    int cases = 0;
    int refused = 0;
    int passed = 0;
    int wrong = 0;
    int late = 0;
    int over_memory = 0;
    int not_run = 0;
    int known = 0;
    int absent = 0;
    int corrected = 0;
    double slowest_ms = 0;
    std::int64_t largest_growth_mib = 0;
  };
  static void Sum(const Totals& one, Totals* all);
  static std::string TableRow(const std::string& name, const Totals& totals);
  // What is wrong with the case; counted in `totals`.
  std::vector<std::string> Judge(const AttackCase& attack, const CaseResult& result,
                                 Totals* totals) const;

  const CaseClock clock_;
  const std::map<std::string, std::string> known_;
  std::map<std::string, Totals> families_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_CASES_REPORT_H_
