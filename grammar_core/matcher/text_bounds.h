// How much of a text its grammar's own bounds leave: GrammarOptions::max_characters and max_tokens.
//
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_TEXT_BOUNDS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_TEXT_BOUNDS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// The longest prefix of `text`, which `state` takes, from whose end the text can be complete with
// `max_characters` characters in all. Errors: by `work`; UNIMPLEMENTED where a token that the
// grammar names is on the way.
struct TextPrefix {
  std::size_t bytes;
  bool may_end;  // behind them
};
absl::StatusOr<TextPrefix> PrefixWithin(const TokenStepper& stepper, TokenStepper::State state,
                                        absl::string_view text, int max_characters, Work& work);

// The bytes of the first `max_tokens` of the fewest tokens that spell `text`, or of all of them.
std::size_t PrefixOfTokens(const TokenIndex& index, absl::string_view text, int max_tokens);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TEXT_BOUNDS_H_
