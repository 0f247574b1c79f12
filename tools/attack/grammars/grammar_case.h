// A case with a payload against a target: what is answered, and whether it is right.
//
// Rules    those of the attack set's README that can be seen at the target's interface: the answer
//          is of the right kind and says why, its texts are taken and refused as stated, no mask is
//          all-zero, plain rows of the same grammar notice nothing.
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_GRAMMARS_GRAMMAR_CASE_H_
#define MASKD_TOOLS_ATTACK_GRAMMARS_GRAMMAR_CASE_H_

#include <string>

#include "tools/attack/cases/attack_case.h"
#include "tools/attack/cases/case_result.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// Adds what is wrong to `result`; times and memory are the caller's to measure.
void RunGrammarCase(const AttackCase& attack, std::string payload, Target* target,
                    CaseResult* result);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_GRAMMARS_GRAMMAR_CASE_H_
