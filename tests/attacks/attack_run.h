// One case of the attack set through the engine, in this process.
//
// Rules    those of the attack set's README that a process can see of itself: the answer is of the
//          right kind, its texts are taken and refused as stated, no mask is all-zero, time and
//          memory stay inside the case's budget. Deaths are the caller's to notice.
// Texts    cut into the longest tokens of the vocabulary; each must be allowed by its mask.
// Threads  one thread: time and memory are the whole process's.
#ifndef MASKD_TESTS_ATTACKS_ATTACK_RUN_H_
#define MASKD_TESTS_ATTACKS_ATTACK_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/tokenizer/text_splitter.h"
#include "tests/attacks/attack_case.h"

namespace maskd {

struct AttackResult {
  // False: no front end reads this format. Nothing else is then set.
  bool supported = true;
  // Of the compile.
  absl::Status answer;
  // What is wrong with the answer, one line each. Empty: the case passes but for its budget.
  std::vector<std::string> faults;
  // Operations of `steps` that this runner does not have.
  std::vector<std::string> missing_operations;
  // Of the compile alone: units of work, and processor time.
  std::int64_t compile_units = 0;
  double compile_cpu_ms = 0;
  // Of the whole case: wall and processor time, growth of resident memory at its highest.
  double wall_ms = 0;
  double cpu_ms = 0;
  std::int64_t growth_mib = 0;
};

class AttackRunner {
 public:
  explicit AttackRunner(std::shared_ptr<TokenizerSpace> space);

  AttackResult Run(const AttackCase& attack) const;

 private:
  void Answer(const AttackCase& attack, std::string payload, AttackResult* result) const;

  std::shared_ptr<TokenizerSpace> space_;
  TextSplitter splitter_;
};

// Resident memory of this process in bytes; its highest since the last ResetPeakMemory(). 0 where
// the system does not say.
std::int64_t ResidentMemory();
std::int64_t PeakMemory();
void ResetPeakMemory();

}  // namespace maskd

#endif  // MASKD_TESTS_ATTACKS_ATTACK_RUN_H_
