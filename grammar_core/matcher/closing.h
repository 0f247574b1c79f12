// Masks that lead to a complete text in so many tokens, wherever there is one.
//
// Rule     a token stays allowed when the text can end behind it in the tokens that are left: by
//          the shortest text, in as few tokens as spell it (endings.h). A longer text of fewer
//          tokens is not looked for as long as any token stays. Where none would, the known ending
//          goes on, or the fewest tokens are searched for; where none stays then, none is taken
//          away: there is no complete text so short, or none was found within the budget of a step.
// From     kFrom tokens left on. A text that no state can complete in fewer than that may be begun
//          before, and then is not completed in time.
// Own      states of a row (unique_items/row_memory.h): the same, each token by what the row has
//          written; see closing_own.h.
// Cost     a look for a mask that is known for so many levels of its state; 10 us where it is not
//          known, and what the levels cost at their first sight (closing_levels.h).
// Memory   that of levels and endings, and kMaxKnown looks.
// Threads  one thread at a time. Kept by the rows of one grammar in one stream.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_

#include <cstdint>
#include <memory>
#include <tuple>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/character_masks.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class ClosingLevels;
struct ClosingLevelList;
class Endings;
class FarStrings;
class LateStates;
struct TokenSearch;
class TokenStepper;

// Masks of rows whose tokens are counted, with what was learnt of how soon their texts can end.
class ClosingMasks {
 public:
  static constexpr int kFrom = 4096;

  // Knows nothing yet.
  ClosingMasks();
  ~ClosingMasks();
  ClosingMasks(const ClosingMasks&) = delete;
  ClosingMasks& operator=(const ClosingMasks&) = delete;

  // The tokens of `mask`, which are those of `state` or some of them, after one of which the text
  // can be complete with `tokens_left` tokens in all, that one and the stop id included. `mask`
  // itself where that is all of them or none. Null where that is not known and `new_masks` refuses
  // to find it out.
  MaskRef Narrow(const TokenStepper& stepper, RowStateId state, const MaskRef& mask,
                 int tokens_left, NewMasks new_masks = NewMasks::kMade);

  // Of what was learnt, roughly.
  [[nodiscard]] std::int64_t held_bytes() const;
  // Calls of Narrow() so far, for tests: a row asks once for each place.
  [[nodiscard]] std::int64_t asked() const { return asked_; }

  // For the other bound that texts may have.
  [[nodiscard]] CharacterMasks& characters() { return characters_; }

 private:
  using State = RowStateId;
  // A mask's number, that of its levels, and how many of those fit; or where none does, the state
  // and the tokens left.
  using Cut = std::tuple<std::uint64_t, std::uint64_t, std::size_t, State>;

  MaskRef NarrowShared(const TokenStepper& stepper, State state, const MaskRef& mask,
                       const ClosingLevelList& levels, int rest, NewMasks new_masks);
  MaskRef MakeShared(const TokenStepper& stepper, State state, const MaskRef& mask,
                     const ClosingLevelList& levels, std::size_t fitting_levels, int rest);
  MaskRef NarrowOwn(const TokenStepper& stepper, State state, const MaskRef& mask,
                    const ClosingLevelList& levels, int rest, NewMasks new_masks);
  // For rows of `stepper`, with what is known of states that cannot end soon.
  [[nodiscard]] TokenSearch SearchOf(const TokenStepper& stepper) const;
  // Where the known endings leave nothing: some tokens that fit, or nothing.
  TokenMask Searched(const TokenStepper& stepper, State state, const TokenMask& mask, int rest);

  static constexpr std::size_t kMaxKnown = 1 << 14;

  std::int64_t asked_ = 0;
  CharacterMasks characters_;
  // Never null; apart, as they know the automaton, which callers of this do not see.
  std::unique_ptr<Endings> endings_;
  std::unique_ptr<ClosingLevels> levels_;
  std::unique_ptr<FarStrings> far_strings_;
  std::unique_ptr<LateStates> late_;
  absl::flat_hash_map<Cut, std::weak_ptr<const TokenMask>> known_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_H_
