// States of which a search has shown that no text ends soon behind them.
//
// Wider    of states that differ only in how much more their first part may take, the one that may
//          take more takes all that the others do: what is shown of it holds for them, too.
// Own      states of a row are not kept: another row's have the same numbers.
// Memory   kMaxKnown states; before there are more all are forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_LATE_STATES_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_LATE_STATES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/rows/row_states.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// A state as those are alike that differ only in how many more of the first part may come.
struct WideState {
  // What they have in common. A state that has no such part is only like itself.
  struct Key {
    AnyTerm body;
    std::uint32_t partial;  // of a string: what has been read of a character (PartialChar)
    std::uint32_t fewest;   // of the first part
    RowStates::State tail;
    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.body, key.partial, key.fewest, key.tail);
    }
  };
  Key key;
  std::uint32_t most;  // of the first part

  // A look at the first part.
  static WideState Of(const RowStates& states, RowStates::State state);
};

// What searches have shown of the states of one automaton, for rows of the same stop ids.
class LateStates {
 public:
  using State = RowStates::State;

  // All that is of another automaton.
  void ForgetOthers(std::uint64_t automaton);

  // No text that ends behind `state` has fewer tokens; 0 where nothing is known.
  [[nodiscard]] int LeastTokens(const RowStates& states, State state) const;
  // That no such text has fewer than `least` tokens.
  void Add(const RowStates& states, State state, int least);

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  static constexpr std::size_t kMaxKnown = 1 << 14;
  struct Late {
    std::uint32_t most;
    int least;
  };

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  absl::flat_hash_map<WideState::Key, Late> known_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_LATE_STATES_H_
