// The masks of all positions of a draft: tokens that a smaller model has guessed.
//
//   Draft      a chain, each token after the one before, or a tree: token i comes after token
//              parents[i], or after what the row has taken where that is -1. Parents come before
//              their children.
//   Positions  one more than tokens: position 0 is the row as it is, position i + 1 the row after
//              token i and those it comes after.
//   Refused    a token that the grammar refuses, that is out of range, or -1 (padding) has no
//              position, nor has any token after it.
//   Ended      tokens after the end are accepted and change nothing, as with Matcher::Accept().
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_DRAFTS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_DRAFTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class TokenStepper;

// The tokens that were guessed, as a chain or a tree.
struct Draft {
  std::span<const TokenId> tokens;
  std::span<const int> parents = {};  // empty: a chain
};

// What may come at one place of a draft.
struct DraftPosition {
  // What became of the position.
  enum class State : std::uint8_t {
    kActive,    // `mask` says what may come next
    kFinished,  // the text has ended: nothing to mask
    kInvalid,   // no such position: a token on the way to it is refused
  };
  State state = State::kInvalid;
  bool may_end = false;
  MaskRef mask = nullptr;  // of an active position
  RowStateId place = {};   // in the grammar, of an active position
};

// All positions of a draft; that of the row itself comes first.
struct DraftMasks {
  std::vector<DraftPosition> positions;
  // Tokens that have a position. In a chain these are the first ones.
  int accepted_tokens = 0;
};

// The index of the position that token i comes after.
inline std::size_t PositionBefore(const Draft& draft, std::size_t i) {
  return draft.parents.empty() ? i : static_cast<std::size_t>(draft.parents[i] + 1);
}

// Whether the parents of `draft` are a tree, as FillDraft() needs.
absl::Status CheckDraft(const Draft& draft);

// The masks of `draft` for a row that is in `state`, or has finished. One budget serves all
// positions. Errors: RESOURCE_EXHAUSTED, and the positions that are not made yet stay invalid;
// INVALID_ARGUMENT for parents that are no tree, and there is no position; UNAVAILABLE where `work`
// lets no mask be made.
absl::Status FillDraft(const TokenStepper& stepper, RowStateId state, bool finished,
                       const Draft& draft, Work& work, DraftMasks* masks);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_DRAFTS_H_
