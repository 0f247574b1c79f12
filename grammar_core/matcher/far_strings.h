// Strings so far from the end of a token budget that every token of theirs fits, told without a
// look at the tokens.
//
// How      whatever characters a string has got, what completes it has a bound that follows from
//          its form alone: parts of it may be left, and of each the longest counts. Behind the
//          string the text goes on as it does behind its quote; the longest ending there is looked
//          up once for all strings that stand before the same.
// Bounds   in bytes, of which each is a token. So a vocabulary that lacks a byte has no far string,
//          nor has a string under conditions, or one of many given texts.
// Memory   of terms and tails that were looked at, kMaxKnown of each; before there are more all are
//          forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_FAR_STRINGS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_FAR_STRINGS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// What is known of the strings of one automaton, for rows of the same stop ids.
class FarStrings {
 public:
  using State = TokenStepper::State;

  // Whether `state` is within a string and behind every token that it takes the text can end in
  // `rest` tokens. False where that is not soon told, and where `work` fails.
  bool IsFar(const TokenStepper& stepper, State state, int rest, Endings* endings, Work& work);

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  static constexpr std::size_t kMaxKnown = 1 << 14;

  // Of characters as a JSON string spells them: what completes them takes no more than `least`
  // bytes, and wherever one stands within them no more than `most`. kNoEnd: not known.
  struct Sizes {
    std::uint32_t least;
    std::uint32_t most;
  };
  Sizes SizesOf(const TermStore& store, CharTerm text, int depth, Work& work);
  Sizes MakeSizes(const TermStore& store, CharTerm text, int depth, Work& work);
  Sizes SizesOfCat(const TermStore& store, CharTerm text, int depth, Work& work);

  // The most tokens that an ending has behind a token that comes to `tail`, a quote before more.
  int MostBehind(const TokenStepper& stepper, TermId tail, Endings* endings, Work& work);

  void ForgetOthers(const TokenStepper& stepper);

  std::uint64_t automaton_ = 0;  // the serial number of the one whose terms are known
  bool has_every_byte_ = false;  // each of the 256 is a token
  bool too_deep_ = false;        // the term at hand: what is found of it is not kept
  absl::flat_hash_map<CharTerm, Sizes> sizes_;
  absl::flat_hash_map<TermId, int> behind_;  // by tail
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_FAR_STRINGS_H_
