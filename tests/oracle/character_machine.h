// A finite automaton for one node of characters, made as textbooks make it: Thompson's construction
// for the regular operators, every count written out; subsets, products and complements for
// intersection and complement. Slow, obvious, and without an idea in common with the engine.
//
// Size     at most kMaxStates states in any of its steps; nodes that need more have no machine.
// Threads  constant once made.
#ifndef MASKD_TESTS_ORACLE_CHARACTER_MACHINE_H_
#define MASKD_TESTS_ORACLE_CHARACTER_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

class CharacterMachine {
 public:
  static constexpr std::size_t kMaxStates = 5'000;
  using State = std::uint32_t;

  // The machine of `characters`, or of its strings but those of `without`.
  static std::optional<CharacterMachine> Of(const GrammarIr& ir, NodeId characters,
                                            const std::vector<std::u32string>& without = {});

  // Whether the node has no string; the other questions are then not to be asked.
  [[nodiscard]] bool IsNothing() const { return !live_[start()]; }
  [[nodiscard]] static State start() { return 0; }
  [[nodiscard]] bool MayEnd(State state) const { return ends_[state]; }
  // The characters that can come next, with something behind them that ends.
  [[nodiscard]] const CharSet& Next(State state) const { return next_[state]; }
  // Requires a character of Next(state).
  [[nodiscard]] State Step(State state, std::uint32_t character) const;

 private:
  friend class MachineBuilder;
  CharacterMachine() = default;

  // The first character of each class of characters that the node does not tell apart.
  std::vector<std::uint32_t> classes_;
  std::vector<std::vector<State>> steps_;  // by state and class
  std::vector<bool> ends_;
  std::vector<bool> live_;
  std::vector<CharSet> next_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_ORACLE_CHARACTER_MACHINE_H_
