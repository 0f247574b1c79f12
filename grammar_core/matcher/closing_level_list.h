// The tokens of a state by how soon the text can end behind them (closing_levels.h).
//
// Threads  plain values; a list is never changed once it is made.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_LIST_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grammar_core/mask/token_mask.h"

namespace maskd {

// Tokens behind which an ending has the same number of tokens. Where rows remember what they write,
// tokens whose endings differ otherwise have levels of their own. All tokens of one then lead to
// the same cells, perhaps with some before them that may be empty.
struct ClosingLevel {
  int few;  // Endings::Few() behind its tokens
  // The tokens; where they are many, `mask` has them.
  std::vector<TokenId> tokens;
  std::optional<TokenMask> mask;

  // Takes its tokens away from a mask.
  void TakeFrom(TokenMask* from) const {
    for (const TokenId id : tokens) from->Forbid(id);
    if (mask.has_value()) from->Subtract(*mask);
  }
};

// All levels of a state.
struct ClosingLevelList {
  std::uint64_t number;              // of this list; no other has it
  std::vector<ClosingLevel> levels;  // by `few`, none falls
  using Ref = std::shared_ptr<const ClosingLevelList>;
  // The most tokens that an ending behind any of the tokens has.
  [[nodiscard]] int most() const { return levels.empty() ? 0 : levels.back().few; }
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_LIST_H_
