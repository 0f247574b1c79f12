// Where tokens that complete a text are looked for.
//
// Threads  a plain value; what it names is used as its own headers say.
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_TOKEN_SEARCH_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_TOKEN_SEARCH_H_

#include <cstdint>
#include <span>

#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

class LateStates;

// What a search for tokens looks at. Nothing is owned.
struct TokenSearch {
  const RowStates* states;
  const TokenIndex* index;
  // Ordinary tokens that are not taken at all, ascending: a row's own stop ids.
  std::span<const TokenId> excluded;
  // For sets of tokens that the vocabulary's rows share; null: none are.
  MaskStore* masks = nullptr;
  // What is known of states that cannot end soon, for rows of these stop ids; null: nothing is.
  LateStates* late = nullptr;

  // Whether `id` is one of `excluded`.
  [[nodiscard]] bool IsExcluded(TokenId id) const;
  // Whether `id`, an ordinary token, is taken as text where its bytes fit.
  [[nodiscard]] bool IsText(TokenId id) const;
};

// The fewest tokens that have so many bytes.
int TokensOfBytes(const TokenIndex& index, std::uint32_t bytes);

// No completion from `state` has fewer tokens.
int LeastTokens(const TokenSearch& search, RowStates::State state);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_TOKEN_SEARCH_H_
