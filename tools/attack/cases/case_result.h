// What became of one case of the attack set.
#ifndef MASKD_TOOLS_ATTACK_CASES_CASE_RESULT_H_
#define MASKD_TOOLS_ATTACK_CASES_CASE_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace maskd::attack {

// Filled in by who runs the case; Report judges it.
struct CaseResult {
  // What is wrong with the answer, one line each. Empty: the case passes, apart from its budget.
  std::vector<std::string> faults = {};
  // Operations of `steps` that this runner does not have. The case has not been run.
  std::vector<std::string> missing_operations = {};
  // What the case needs that there is not, such as "TLS". Empty: the case was run.
  std::string absent = {};
  // Of grammar cases: whether the answer was a refusal.
  bool refused = false;
  // For the whole case: wall time here, processor time of the target's process, growth of its
  // resident memory at its highest.
  double wall_ms = 0;
  // Of that, time in which the case itself has nothing done.
  double idle_ms = 0;
  double cpu_ms = 0;
  std::int64_t growth_mib = 0;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_CASES_CASE_RESULT_H_
