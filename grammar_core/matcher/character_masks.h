// Masks of texts that may have so many characters at most (GrammarOptions::max_characters).
//
// Rule     a token stays allowed exactly when the text after it has a completion of no more
//          characters than are left then. So every state that is reached has one, from the start.
// Counts   a byte that begins a character counts one, whatever follows; a special token has none.
// Cost     two looks while no token can come near the bound; near it a walk over the allowed
//          tokens. What that takes to know is kept: of each state its smallest completion, and of
//          states that look alike to one token how much one can add to it.
// Errors   RESOURCE_EXHAUSTED: the budget of a step, and where tokens are left that the vocabulary
//          does not have.
// Threads  one thread at a time. Kept by the rows of one grammar in one stream.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CHARACTER_MASKS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CHARACTER_MASKS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class TokenStepper;

// Masks of rows whose text may have so many characters at most.
class CharacterMasks {
 public:
  // The tokens of `mask`, which are those of `state`, that `left` characters are enough for.
  // `mask` itself where that is all of them. UNAVAILABLE where that is not known and `new_masks`
  // refuses to find it out.
  absl::StatusOr<MaskRef> Narrow(const TokenStepper& stepper, RowStateId state, const MaskRef& mask,
                                 std::int64_t left, NewMasks new_masks = NewMasks::kMade);

  // Whether Narrow() would leave `token`, if `state` takes it.
  absl::StatusOr<bool> Allows(const TokenStepper& stepper, RowStateId state, TokenId token,
                              std::int64_t left);

 private:
  using State = RowStateId;
  class Walk;

  // The characters of the smallest completion.
  std::int64_t Least(const TokenStepper& stepper, State state, Work& work);
  // Whether any token leaves enough.
  bool IsFar(const TokenStepper& stepper, State state, std::int64_t left, Work& work);

  static constexpr std::size_t kMaxStates = 1 << 16;  // remembered; then all are forgotten

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are in least_
  absl::flat_hash_map<State, std::int64_t> least_;
  // By a state's key: the smallest completion through any one token has at most so many characters
  // more than the smallest completion of the state.
  absl::flat_hash_map<Hash128, std::int64_t> rise_;
};

// What a token counts.
std::int64_t CharactersOf(const Vocabulary& vocabulary, TokenId token);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CHARACTER_MASKS_H_
