// The tokens of a state by how soon the text can end behind them: one level for each number of
// tokens that an ending takes (endings.h).
//
// Strings  in a string of any characters, or of so many at most, all states before the same cells
//          have the same levels: they are made for one, of the most characters, and a token that
//          another does not take is not in its mask. Tokens that stay within the string are one set
//          (closure.h); only those with a quote, an escape or part of a character are walked.
// Cost     a walk over the tokens that a state may take, some 0.1 ms in a string and 5 ms where it
//          takes nearly all of 128,256 tokens otherwise; then a look.
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
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// Tokens behind which an ending has the same number of tokens. Where rows remember what they write,
// tokens whose endings differ otherwise have levels of their own. All tokens of one then lead to
// the same cells, perhaps with some before them that may be empty.
struct ClosingLevel {
  int few;  // Endings::Few() behind its tokens
  // The tokens; where they are many, `mask` has them.
  std::vector<TokenId> tokens;
  std::optional<TokenMask> mask;

  // Takes its tokens away from a mask.
  void TakeFrom(TokenMask* from) const {
    for (const TokenId id : tokens) from->Forbid(id);
    if (mask.has_value()) from->Subtract(*mask);
  }
};

// All levels of a state.
struct ClosingLevelList {
  std::uint64_t number;              // of this list; no other has it
  std::vector<ClosingLevel> levels;  // by `few`, none falls
  // The most tokens that an ending behind any of the tokens has.
  [[nodiscard]] int most() const { return levels.empty() ? 0 : levels.back().few; }
};

// The levels of states, made when first asked for.
class ClosingLevels {
 public:
  using State = TokenStepper::State;
  using Levels = std::shared_ptr<const ClosingLevelList>;

  // Of all tokens that `state`, which is no own state, takes by their bytes or by name, and perhaps
  // of some that it does not take. Not all when `work` failed.
  Levels Of(const TokenStepper& stepper, TermId state, Endings* endings, Work& work);

  // Whether `state` is within a number and every token that it takes leaves an ending of `rest`
  // tokens, as far as that is soon told.
  bool IsFarNumber(const TokenStepper& stepper, State state, int rest, Endings* endings,
                   Work& work);

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr std::int64_t kMaxBytes = 4 << 20;
  class Maker;

  // What the levels of strings are alike by: the characters and their spelling, and the cells
  // behind.
  struct StringKey {
    CharTerm characters;
    Spelling spelling;
    TermId tail;
    bool operator==(const StringKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const StringKey& key) {
      return H::combine(std::move(state), key.characters, key.spelling, key.tail);
    }
  };
  struct OfString {
    std::uint32_t most_characters;
    Levels levels;
  };
  struct String {
    StringKey key;
    std::uint32_t most_characters;
  };

  // All that is of another automaton.
  void ForgetOthers(const TokenStepper& stepper);
  static std::optional<String> StringOf(const TokenStepper& stepper, TermId state, Work& work);
  void Keep(TermId state, const std::optional<String>& string, const Levels& levels);

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  absl::flat_hash_map<TermId, Levels> known_;
  absl::flat_hash_map<StringKey, OfString> strings_;
  bool digits_alone_ = false;  // no token has what is of no number behind a digit
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVELS_H_
