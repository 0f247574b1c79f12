// Text expressions of the attack set: JSON values that stand for byte strings.
//
//   "ab"                                   its UTF-8 bytes
//   [X, Y]                                 X, then Y
//   {"hex": "c0af"}                        those bytes
//   {"repeat": X, "n": N}                  X, N times
//   {"each": X, "from": A, "to": B, "sep": S, "var": "i"}
//                                          X for i = A to B - 1, joined by S; ${i}, ${i+K} and
//                                          ${i-K} in the literals of X are the number
//   {"random": ALPHABET, "n": N, "seed": S}  N letters drawn with splitmix64, modulo the alphabet
//
// Source   the README of the attack set; its expand.py is the oracle of attack_texts_test.py.
// Errors   INVALID_ARGUMENT for another shape.
// Threads  no state; any thread.
#ifndef MASKD_TOOLS_ATTACK_CASES_TEXT_EXPRESSION_H_
#define MASKD_TOOLS_ATTACK_CASES_TEXT_EXPRESSION_H_

#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace maskd::attack {

// The bytes that `expression` stands for.
absl::StatusOr<std::string> ExpandText(const nlohmann::json& expression);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_CASES_TEXT_EXPRESSION_H_
