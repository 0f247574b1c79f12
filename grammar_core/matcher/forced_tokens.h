// What must come next whatever the choice: as bytes, as draft tokens, as hard tokens.
//
//   bytes    up to the first choice, or the first place where the text may end.
//   draft    `tokens`: the bytes in the tokenizer's tokens. A model checks them as any draft, so
//            they may be the wrong ones: the last of them depend on what comes after the bytes.
//   hard     the first `certain_tokens` of them: those that the tokenizer itself makes of the text,
//            however it goes on. An engine may append them without asking the model.
//
// Which     Real merges, where the vocabulary's file says how texts are cut (encoding_rules.h);
//           without that the longest tokens that fit, of which none is certain.
// Safe      Every token stands for forced bytes, so the grammar takes it, certain or not. That hard
//           tokens are canonical rests on CanonicalEncoder, which tests compare with the
//           tokenizers' own packages; wrong ones would be unusual spellings, not wrong texts.
// Threads   plain values.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_FORCED_TOKENS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_FORCED_TOKENS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class TokenStepper;

// Forced bytes with their tokens, of which the first ones are certain.
struct ForcedTokens {
  std::string bytes;
  std::vector<TokenId> tokens;
  int certain_tokens = 0;
};

// The bytes that must come in `state`, at most `max_bytes`, and the state behind them.
struct ForcedBytes {
  std::string bytes;
  RowStateId end;
};
// Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<ForcedBytes> FindForcedBytes(const TokenStepper& stepper, RowStateId state,
                                            int max_bytes, Work& work);

// The same with tokens, which come after `before`, the last tokens of the row. Errors:
// RESOURCE_EXHAUSTED.
absl::StatusOr<ForcedTokens> FindForcedTokens(const TokenStepper& stepper, RowStateId state,
                                              const std::vector<TokenId>& before, int max_bytes,
                                              Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_FORCED_TOKENS_H_
