// Cases of the attack set one after the other against one process, and what they cost it.
//
// Time     of a case is wall time here; processor time is that of the process that answers.
// Memory   growth while a case is answered: the highest resident size above the one before it.
// Threads  one thread: time and memory are the whole process's.
#ifndef MASKD_TOOLS_ATTACK_GRAMMARS_RUNNER_H_
#define MASKD_TOOLS_ATTACK_GRAMMARS_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tools/attack/cases/attack_case.h"
#include "tools/attack/cases/case_result.h"
#include "tools/attack/targets/process_watch.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// One for each run, as it remembers what the process held at the start.
class Runner {
 public:
  // Runs a case that has steps of a server.
  using ServerCase = std::function<void(const AttackCase& attack, CaseResult* result)>;

  // What is run against, and what can be seen of it.
  struct Options {
    // What answers; outlives the runner.
    Target* target = nullptr;
    // Its process; nothing where it cannot be seen.
    std::optional<ProcessWatch> process = std::nullopt;
    // Absent: cases of a server are not run, and say so.
    ServerCase server_case = nullptr;
    // Gives pages that nothing lives in back to the system, where nobody else does.
    std::function<void()> trim = [] {};
  };

  // Reads what the process holds now, for HeldAfterwards().
  explicit Runner(Options options);

  // The case's faults, its times and what it made the process grow by.
  CaseResult Run(const AttackCase& attack);
  // Whether the process is there.
  [[nodiscard]] bool IsAlive() const;

  // Waits for 5 s and gives what the process holds then above what it held at the start, with and
  // without what caches keep within bounds of their own.
  struct Held {
    std::int64_t all_mib = 0;
    std::int64_t cached_mib = 0;
  };
  // Nothing where the process cannot be seen.
  [[nodiscard]] std::optional<Held> HeldAfterwards();

 private:
  void RunWithin(const AttackCase& attack, CaseResult* result);
  // Resident bytes once those that nothing lives in are gone.
  [[nodiscard]] std::int64_t Resident() const;

  const Options options_;
  std::int64_t resident_before_ = 0;
  std::int64_t cached_before_ = 0;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_GRAMMARS_RUNNER_H_
