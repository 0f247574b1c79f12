// The states that walks through many tokens meet, numbered as they come, with a dense table of
// their transitions. A step known to the table is one look into a few kilobytes, where the
// automaton's own rows are spread over its terms: a long walk takes a fifth of the time.
//
// No text meets most states of a walk, so the automaton does not keep them. A state is a place: a
// cell before a list of spines, which is the walk's own. A step makes what the cell becomes, once
// for all that may follow the cell, and no spine of the two.
//
// Where a walk meets many states of strings under many conditions, it goes on in products of these
// instead of terms (condition_states.h).
//
// Memory   an int32 for each byte class a state, given back with the walk.
// Threads  one walk's own; the automaton is shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
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
  // Where a node of a trie has more nodes below it, to Narrow() its state pays.
  static constexpr std::uint32_t kManyBelow = 24;

  // Both must outlive this.
  WalkStates(Automaton* automaton, Work* work);

  // The number of a state of the automaton.
  State Enter(TermId term);
  // The same of `head` before `tail`, which may not be Nothing.
  State Enter(TermId head, TermId tail);

  // The same of spines one after the other, the first one first, before `tail`.
  State Enter(std::span<const TermId> spines, TermId tail);

  // Marks the bytes that surely lead nowhere from `state`, once: pays where many bytes are tried
  // there. Requires state > kFailed. Enter() of one term does so.
  void Narrow(State state);

  // The state behind `byte`. Requires state > kFailed.
  State Step(State state, unsigned char byte) {
    if (state >= kConditions) return StepConditions(state, byte);
    const State known = table_[state + static_cast<State>(classes_->Of(byte))];
    return known != kUnknown ? known : MakeStep(state, byte);
  }

  // Whether it is known already that `byte` leads nowhere. Requires state > kFailed.
  [[nodiscard]] bool IsDead(State state, unsigned char byte) const {
    return state < kConditions && table_[state + static_cast<State>(classes_->Of(byte))] == kDead;
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

  // What follows a cell: a spine, and the tail that follows this. Tails are numbered as they come.
  using TailId = std::uint32_t;
  static constexpr TailId kNoTail = 0;
  struct Tail {
    TermId spine;
    TailId next;
    std::uint32_t floor;  // cells of the last spine
  };
  struct Place {
    TermId cell;
    TailId tail;
    bool operator==(const Place&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const Place& place) {
      return H::combine(std::move(state), place.cell, place.tail);
    }
  };

  TailId TailOf(TermId spine, TailId next);
  // The first cell of a tail that there is, before the rest.
  Place FirstOf(TailId tail);
  State EnterBefore(TermId head, TailId tail);
  State EnterPlace(const Place& place);
  // Any of `ways`: of each a term, not a cell, before its tail.
  State EnterChoice(const std::vector<Place>& ways);
  // The number that `conditions_` has for it, where it is one of theirs.
  std::optional<std::uint32_t> EnterConditions(const Place& place);
  // As one term.
  [[nodiscard]] TermId Joined(const Place& place) const;
  State MakeStep(State state, unsigned char byte);
  // Whether the form of a cell rules out few bytes.
  [[nodiscard]] bool TakesMostCharacters(TermId cell) const;
  // Marks those bytes.
  void RuleOut(State state);
  // Notes that cells were read up to that of `last`.
  void LowerFloor(const Place& last);
  State StepConditions(State state, unsigned char byte);

  Automaton* automaton_;
  Work* work_;
  const std::uint32_t row_size_;  // at least kFailed + 1
  const std::size_t most_terms_;
  const ByteClasses* classes_;
  // A state is the place of its row in the table. The first row stands for kDead and kFailed.
  std::vector<State> table_;
  std::vector<Place> places_;    // by row
  std::vector<bool> is_narrow_;  // by row, those that were asked for
  absl::flat_hash_map<Place, State> states_;
  std::vector<Tail> tails_;
  absl::flat_hash_map<std::pair<TermId, TailId>, TailId> tail_ids_;
  std::vector<Place> ways_;  // of the step that is being made
  ConditionStates conditions_;
  std::uint32_t lowest_floor_ = kNoEnd;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_WALK_STATES_H_
