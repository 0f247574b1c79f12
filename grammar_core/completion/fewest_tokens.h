// The fewest tokens that complete the text from a state: how soon a row can be closed.
//
// Bounds   at least  what the terms' lower bound of bytes takes in the longest tokens: a look.
//          at most   the shortest string that completes the text, in as few tokens as spell it:
//                    some microseconds.
//          exact     a breadth-first search over states, a token a level, that looks only for less
//                    than that and leaves out what cannot lead to it. It walks the token trie from
//                    each state it meets, so it can meet the step's budget where texts are free.
// Errors   RESOURCE_EXHAUSTED by `work`, or when no completion has at most so many tokens or bytes.
// Threads  as RowStates.
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// Where tokens that complete a text are looked for. Nothing is owned.
struct TokenSearch {
  const RowStates* states;
  const TokenIndex* index;
  // Ordinary tokens that are not taken at all, ascending: a row's own stop ids.
  std::span<const TokenId> excluded;

  // Whether `id`, an ordinary token, is taken as text where its bytes fit.
  [[nodiscard]] bool IsText(TokenId id) const;
};

// The fewest ordinary tokens that spell `text`, empty where the vocabulary lacks one of its bytes.
std::vector<TokenId> FewestPieces(const TokenSearch& search, absl::string_view text);

// Units of work that all tokens of `text` take to look at once, as FewestPieces() does.
std::int64_t WorkOfPieces(absl::string_view text);

// No completion from `state` has fewer tokens.
int LeastTokens(const TokenSearch& search, RowStates::State state);

// Tokens that complete the text, few but not always the fewest.
absl::StatusOr<std::vector<TokenId>> FewTokens(const TokenSearch& search, RowStates::State state,
                                               int max_bytes, Work& work);

// The fewest, and among those any, if there are at most `max_tokens`. Tokens that the grammar names
// may be among them.
absl::StatusOr<std::vector<TokenId>> FewestTokens(const TokenSearch& search, RowStates::State state,
                                                  int max_tokens, Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_FEWEST_TOKENS_H_
