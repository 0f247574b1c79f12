// How far a text is taken where the grammar counts the tokens of a part, or names tokens: at best,
// over all the ways to cut it into tokens. One that the grammar names stands for its spelling.
//
// Cost     a state for each place of the text, and more where several parts are counted at once.
// Errors   by Work: RESOURCE_EXHAUSTED.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_TEXT_CUTS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_TEXT_CUTS_H_

#include <cstddef>

#include "absl/strings/string_view.h"

#include "grammar_core/base/work.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// How far a text can be taken, cut into tokens in the way that gets farthest.
struct TextCut {
  std::size_t taken_bytes = 0;
  bool may_end = false;  // the text, after all of them
};
TextCut CutText(const TokenStepper& stepper, TokenStepper::State state, absl::string_view text,
                Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TEXT_CUTS_H_
