// The tokens of a state by how soon the text can end behind them: one level for each number of
// tokens that an ending takes (endings.h).
//
// Strings  in a string of characters of one set, of which it must have so many more, all states
//          before the same cells have the same levels: they are made for a string without a bound,
//          and a token that another does not take is not in its mask. Tokens that stay within the
//          string are one set (closure.h); walked are those with a quote, an escape or part of a
//          character.
// Runs     before white space that may be left out states have the same levels, too, whatever there
//          may be of it: its tokens lead to the same, and those that go on are cut behind it once
//          for the vocabulary (run_index.h).
// Numbers  where no token has a digit and more behind it, a number has the levels of its tokens
//          and, where it may end, those of the next cells.
// Cost     a walk over the tokens that a state may take: 10 to 30 us at most places of a JSON text,
//          60 in a string, 0.8 ms in one that a pattern tells, 5 ms where it takes nearly all of
//          128,256 tokens otherwise; then a look.
// Memory   kMaxBytes, or the levels of one state; before there is more all are forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVELS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVELS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/closing_level_list.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// The levels of states, made when first asked for.
class ClosingLevels {
 public:
  using State = TokenStepper::State;
  using Levels = ClosingLevelList::Ref;

  // Of all tokens that `state`, which is no own state, takes by their bytes or by name, and perhaps
  // of some that it does not take. Not all when `work` failed. `mask`: that of `state` where it is
  // known, else null.
  Levels Of(const TokenStepper& stepper, TermId state, const TokenMask* mask, Endings* endings,
            Work& work);

  // Whether `state` is within a number and every token that it takes leaves an ending of `rest`
  // tokens, as far as that is soon told.
  bool IsFarNumber(const TokenStepper& stepper, State state, int rest, Endings* endings,
                   Work& work);

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr std::int64_t kMaxBytes = 4 << 20;

  // What the levels of strings and runs are alike by: the characters, their spelling and how many
  // there must be, or the bytes; and the cells behind.
  struct FamilyKey {
    AnyTerm body;
    Spelling spelling;
    std::uint32_t fewest;
    TermId tail;
    bool operator==(const FamilyKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const FamilyKey& key) {
      return H::combine(std::move(state), key.body, key.spelling, key.fewest, key.tail);
    }
  };
  struct OfFamily {
    std::uint32_t most;  // characters or bytes
    Levels levels;
  };
  struct Family {
    FamilyKey key;
    std::uint32_t most;
    bool is_run;
  };

  // All that is of another automaton.
  void ForgetOthers(const TokenStepper& stepper);
  // The one that `state` looks to be of, and whether all of it have the same levels.
  static std::optional<Family> FamilyOf(const TokenStepper& stepper, TermId state);
  static bool IsAlike(const TokenStepper& stepper, const Family& family, Work& work);
  // Writes down what the levels are right for.
  Levels Make(const TokenStepper& stepper, TermId state, const TokenMask* mask,
              std::optional<Family>* family, Endings* endings, Work& work);
  // The one of a family of strings that has no bound; and a state that is one byte before such a
  // string, or else the state itself.
  static TermId Widest(const TokenStepper& stepper, TermId string);
  static TermId WidestBehind(const TokenStepper& stepper, TermId state, Work& work);
  void Keep(TermId state, const std::optional<Family>& family, const Levels& levels);

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  absl::flat_hash_map<TermId, Levels> known_;
  absl::flat_hash_map<FamilyKey, OfFamily> families_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVELS_H_
