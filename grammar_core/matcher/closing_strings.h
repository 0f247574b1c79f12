// The strings that a state begins with, as far as all tokens of their characters can be told at
// once (closing_levels.h).
//
// Errors   by Work; then results mean nothing.
// Threads  as RowStates.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_STRINGS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grammar_core/base/work.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// Whether `state` takes no byte but a quote; meaningless where `work` failed.
bool TakesQuoteAlone(Automaton& automaton, TermId state, Work& work);

// Asks for the strings of the states of one row's automaton.
class ClosingStrings {
 public:
  // Both must outlive this.
  ClosingStrings(const RowStates* row, Work* work) : row_(*row), work_(*work) {}

  // The strings of one set of characters that `state` begins with: one, or a choice of those of
  // several lengths, each before its own tail. Nothing of other states.
  [[nodiscard]] std::vector<TermId> Of(TermId state) const;

  // Their characters, and the tokens that they do not tell. Nothing where there are no strings.
  [[nodiscard]] std::optional<Closure> ClosureOf(const std::vector<TermId>& strings) const;

  // How many characters lead each to a state of their own: those that a string must still have, and
  // in a choice those behind which one of its strings is full. All longer ones lead to one.
  [[nodiscard]] std::uint32_t OwnCharacters(TermId state, const std::vector<TermId>& strings) const;

  // Whether `state` is in a string, in one of few ways, and takes no token by its name.
  [[nodiscard]] bool BeginsInString(TermId state) const;

  // The closure of a state that is a string of any characters without a bound; nothing for others.
  [[nodiscard]] std::optional<Closure> FreeClosureOf(TermId state) const;

  // Whether bytes that are whole characters have those of a class alone.
  [[nodiscard]] static bool IsWithin(const CharacterClass& characters,
                                     std::span<const unsigned char> bytes);

 private:
  // Of TokenIndex: above it, lengths are not told apart.
  static constexpr std::uint32_t kIndexedCharacters = 128;
  // Strings of a choice that are taken together.
  static constexpr std::size_t kMaxStrings = 4;

  // The ways of a choice, each before its own tail; the state alone where it is none. Nothing where
  // they are too many.
  [[nodiscard]] std::vector<TermId> BranchesFrom(TermId state) const;
  // The characters of such a string, and how they are spelled.
  [[nodiscard]] std::pair<CharTerm, Spelling> SetOf(TermId string) const;

  const RowStates& row_;
  Work& work_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_STRINGS_H_
