// What a NumberSpec says about a text, by plain arithmetic on digit strings; shares no code with
// the engine.
#ifndef MASKD_TESTS_FRONTEND_NUMBER_JUDGE_H_
#define MASKD_TESTS_FRONTEND_NUMBER_JUDGE_H_

#include "absl/strings/string_view.h"

#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// Whether `text` is a JSON number, spelled as the spec allows, of one of its values.
bool IsNumberOf(const NumberSpec& spec, absl::string_view text);

// Whether more bytes can make it one, looking for them among two more digits, those of the spec's
// bounds, those that its divisors ask for, a point, and exponents that bring it near the bounds: an
// answer of yes is proved, one of no is not.
bool CanBecomeNumberOf(const NumberSpec& spec, absl::string_view text);

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_NUMBER_JUDGE_H_
