// A walk's states within strings under many conditions, as products (see condition_search.h) and no
// terms: a walk through a vocabulary meets tens of thousands of them, most only once.
//
// Memory   what the walk met, until it ends.
// Threads  one walk's own; the automaton is shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_CONDITION_STATES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_CONDITION_STATES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/intersection/condition_search.h"
#include "grammar_core/terms/encoding.h"
#include "grammar_core/terms/term.h"

namespace maskd {

class Automaton;

// The states of one walk within strings under several conditions, numbered as they are met.
class ConditionStates {
 public:
  // Both must outlive this.
  ConditionStates(Automaton* automaton, Work* work) : automaton_(automaton), work_(work) {}

  // The index of `state`, or nothing where it is not the beginning or middle of such a string, or
  // what follows the string cannot be told from it by one byte.
  std::optional<std::uint32_t> Enter(TermId state);

  // What `byte` leads to: another of these states; behind the string a state of the automaton; or,
  // with neither, nothing. Meaningless where the work failed.
  struct Next {
    std::optional<std::uint32_t> within;
    TermId behind = kNothingTerm;
  };
  Next Step(std::uint32_t index, unsigned char byte);

  // See term.h.
  [[nodiscard]] std::uint32_t floor(std::uint32_t index) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Place {
    Product product;
    std::uint32_t tail;  // its index
    bool nullable;
  };
  // Between two characters or, with a place's product, within one.
  struct State {
    std::uint32_t place;
    PartialChar partial;
  };
  using PlaceKey = std::pair<Product, std::uint32_t>;
  using StateKey = std::pair<std::uint32_t, std::uint32_t>;

  std::optional<std::uint32_t> TailOf(TermId tail, Spelling spelling);
  std::optional<std::uint32_t> PlaceOf(Product product, std::uint32_t tail);
  std::uint32_t StateOf(std::uint32_t place, const PartialChar& partial);
  Next StepPartial(std::uint32_t place, const PartialChar& partial);
  Next StepCharacter(std::uint32_t place, const PartialChar& start, std::uint32_t character);

  Automaton* automaton_;
  Work* work_;
  std::vector<TermId> tails_;
  absl::flat_hash_map<TermId, std::uint32_t> tail_ids_;  // or kNone
  std::vector<Place> places_;
  absl::flat_hash_map<PlaceKey, std::uint32_t> place_ids_;  // or kNone
  std::vector<State> states_;
  std::uint64_t steps_ = 0;
  absl::flat_hash_map<StateKey, std::uint32_t> state_ids_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_CONDITION_STATES_H_
