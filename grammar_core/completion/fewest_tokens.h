// The fewest tokens that complete the text from a state: how soon a row can be closed.
//
// Bounds   at least  what the terms' lower bound of bytes takes in the longest tokens: a look.
//          at most   the shortest string that completes the text, in as few tokens as spell it:
//                    some microseconds.
//          exact     a breadth-first search (breadth_first.h) that looks only for less than that.
//                    Where conditions tell the texts it can meet the step's budget.
// Errors   RESOURCE_EXHAUSTED by `work`, or when no completion has at most so many tokens or bytes.
// Threads  as RowStates.
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/completion/token_search.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// The fewest ordinary tokens that spell `text`, empty where the vocabulary lacks one of its bytes.
std::vector<TokenId> FewestPieces(const TokenSearch& search, absl::string_view text);

// Units of work that all tokens of `text` take to look at once, as FewestPieces() does.
std::int64_t WorkOfPieces(absl::string_view text);

// Tokens that complete the text, few but not always the fewest.
absl::StatusOr<std::vector<TokenId>> FewTokens(const TokenSearch& search, RowStates::State state,
                                               int max_bytes, Work& work);

// The fewest, and among those any, if there are at most `max_tokens`. Tokens that the grammar names
// may be among them.
absl::StatusOr<std::vector<TokenId>> FewestTokens(const TokenSearch& search, RowStates::State state,
                                                  int max_tokens, Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_
