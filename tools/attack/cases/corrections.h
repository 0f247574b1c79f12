// Cases of the attack set that ask for what docs/protocol promises otherwise, and what they are run
// as instead.
#ifndef MASKD_TOOLS_ATTACK_CASES_CORRECTIONS_H_
#define MASKD_TOOLS_ATTACK_CASES_CORRECTIONS_H_

#include <string>

#include <nlohmann/json.hpp>

namespace maskd::attack {

// Puts the case in its corrected form and says why; empty: it stays as it is.
std::string Correct(nlohmann::json* attack);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_CASES_CORRECTIONS_H_
