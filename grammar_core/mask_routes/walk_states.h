// The states that walks through many tokens meet, numbered as they come, with a dense table of
// their transitions. A step known to the table is one look into a few kilobytes, where the
// automaton's own rows are spread over its terms: a long walk takes a fifth of the time.
//
// Where a walk meets many states of strings under many conditions, it goes on in products of these
// instead of terms (condition_states.h).
//
// Memory   an int32 for each byte class a state.
// Threads  one walk's own; the automaton is shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask_routes/condition_states.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// The states that one walk meets, with a dense table of the steps between them.
class WalkStates {
 public:
  using State = std::uint32_t;
  // No state: the bytes cannot be taken, or `work` failed. All others are greater.
  static constexpr State kDead = 0;
  static constexpr State kFailed = 1;

  // Both must outlive this.
  WalkStates(Automaton* automaton, Work* work);

  // The number of a state of the automaton.
  State Enter(TermId term);

  // The state behind `byte`. Requires state > kFailed.
  State Step(State state, unsigned char byte) {
    if (state >= kConditions) return StepConditions(state, byte);
    const State known = table_[state + class_of_[byte]];
    return known != kUnknown ? known : MakeStep(state, byte);
  }

  // Whether to walk from `term` in place of what makes more terms: the automaton is filling up, and
  // the walk goes on in products.
  bool SparesTerms(TermId term) {
    return 2 * most_terms_ < kMostTerms && conditions_.Enter(term).has_value();
  }

  // The lowest floor (see term.h) of the states that were stepped from.
  [[nodiscard]] std::uint32_t lowest_floor() const { return lowest_floor_; }

 private:
  static constexpr State kUnknown = 0xFFFFFFFF;
  // From here on states are those of `conditions_`.
  static constexpr State kConditions = 1U << 31;
  // After so many states no more terms are made of strings under many conditions; after fewer, as
  // the automaton fills, which outlives the walk. Terms are kept for the next masks, products are
  // not: one rich pattern is to end before.
  static constexpr std::size_t kMostTerms = 512;

  State MakeStep(State state, unsigned char byte);
  State StepConditions(State state, unsigned char byte);

  Automaton* automaton_;
  Work* work_;
  const std::uint32_t row_size_;  // at least kFailed + 1
  const std::size_t most_terms_;
  std::array<std::uint8_t, 256> class_of_;
  // A state is the place of its row in the table. The first row stands for kDead and kFailed.
  std::vector<State> table_;
  std::vector<TermId> terms_;  // by row
  absl::flat_hash_map<TermId, State> states_;
  ConditionStates conditions_;
  std::uint32_t lowest_floor_ = kNoEnd;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_
