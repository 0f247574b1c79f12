// The tokens of an own state of a row (unique_items/row_memory.h) behind which the text can end
// in the tokens that are left.
//
// How      by the levels of the state of the automaton, whose endings the row may not all take.
//          What stays within a string is looked at once for a level, and each token apart that
//          makes the string the equal of another, or of one that the ending writes. Tokens that
//          leave the string are looked at once for all that have the same behind the quote, but
//          those whose string the ending found so may write, and others one by one.
// Far      where so many more tokens are left than the ending takes, what the row has written is
//          not looked at: another item takes a token more, seldom two.
// Bounds   kMaxLooks endings; tokens that are not looked at do not fit.
// Threads  one use each.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/hash128.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/closing_levels.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

// Whether an ending of `few` tokens has so many to spare that it does not depend on what the row
// has written.
inline bool IsFarFromEnd(int few, int rest) {
  constexpr int kSpareTokens = 32;
  return few <= rest && 2 * (rest - few) >= rest + kSpareTokens;
}

// One look at the tokens of an own state.
class OwnClosing {
 public:
  using State = TokenStepper::State;

  // Tokens of `mask`, that of the own state `state`, behind which an ending has at most `rest`. All
  // must outlive this, and a RowStates::Scratch be there.
  OwnClosing(const TokenStepper* stepper, Endings* endings, State state, const TokenMask& mask,
             int rest);

  // Those that fit, of the levels of its shared state.
  TokenMask Fitting(const ClosingLevelList& levels);

 private:
  static constexpr int kMaxLooks = 256;
  static constexpr std::int64_t kStepWork = 4'000;

  void AddFitting(const ClosingLevel& level);
  void AddWithin(const TokenMask& tokens);
  void AddOthers(const TokenMask& tokens);
  // `*ending`, where asked for: the one that fits.
  bool Fits(TokenId id, std::string* ending = nullptr);
  // Tokens that may make the string at hand equal to a string written before.
  void FindSpecial();
  void AddSpecial(absl::string_view text);

  const TokenStepper& stepper_;
  Endings& endings_;
  const State state_;
  const TokenMask& mask_;
  const int rest_;
  Budget budget_;
  Work work_;
  TokenMask fitting_;
  bool in_string_ = false;
  TokenMask leaving_;  // in a string: those with a quote
  std::vector<TokenId> special_;
  int looks_ = 0;
  // What stands for the tokens that have the same behind a quote.
  struct BehindQuote {
    bool fits = false;
    std::string ending = {};
  };
  absl::flat_hash_map<Hash128, bool> fits_;                           // by the key of a state
  absl::flat_hash_map<absl::string_view, BehindQuote> behind_quote_;  // by what a token has there
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_
