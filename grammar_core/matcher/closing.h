// Masks that lead to a complete text in so many tokens, wherever there is one.
//
// Rule     a token stays allowed when the shortest text that completes what comes after it has few
//          enough tokens (automaton/fewest_tokens.h). Where none would stay, the fewest tokens are
//          searched for; where none stays then, none is taken away: there is no complete text so
//          short, or none was found within the budget of a step.
// From     kFrom tokens left on. A text that no state can complete in fewer than that may be begun
//          before, and then is not completed in time.
// Cost     a look for a state whose every token is known to leave room; else a look at each group
//          of its tokens (step_groups.h): 20 us, and some 2 ms, 6 at most, at the first sight of a
//          state that takes nearly all of 128,256 tokens.
// Threads  one thread at a time. Kept by the rows of one grammar in one stream.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/character_masks.h"
#include "grammar_core/matcher/step_groups.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

class ClosingMasks {
 public:
  static constexpr int kFrom = 256;

  // The tokens of `mask`, which are those of `state` (with `is_part` some of them), after one of
  // which the text can be complete with `tokens_left` tokens in all, that one and the stop id
  // included. `mask` itself where that is all of them or none.
  MaskRef Narrow(const TokenStepper& stepper, TokenStepper::State state, const MaskRef& mask,
                 int tokens_left, bool is_part = false);

  // For the other bound that texts may have.
  [[nodiscard]] CharacterMasks& characters() { return characters_; }

 private:
  using State = TokenStepper::State;
  class Look;

  // States are numbers of one automaton: forgets those of another one.
  void SetAutomaton(const TokenStepper& stepper);
  // Tokens that complete the text from `state`: few, not always the fewest.
  int FewTokens(const TokenStepper& stepper, State state, Work& work);

  static constexpr std::size_t kMaxStates = 1 << 14;  // remembered; then all are forgotten

  std::uint64_t automaton_ = 0;  // its serial number
  CharacterMasks characters_;
  StepGroups groups_;
  absl::flat_hash_map<State, int> few_;   // by state
  absl::flat_hash_map<State, int> most_;  // by state: of few_ over all that its tokens lead to
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_
