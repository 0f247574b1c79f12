// The tokens of an own state of a row (unique_items/row_memory.h) behind which the text can end
// in the tokens that are left.
//
// How      by the levels of the state of the automaton, whose endings the row may not all take. The
//          tokens of one level lead to the same cells, so one of them stands for all that write no
//          value which is there already, or which the ending writes: these are looked at one by
//          one. A token that begins the ending of the row's state, or that of a string one
//          character further, goes on with what is left of it and takes no look at all.
// Far      where so many more tokens are left than the ending takes, what the row has written is
//          not looked at, see IsFarFromEnd().
// Bounds   kMaxLooks endings; tokens that are not looked at do not fit.
// Threads  one use each.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_

#include <optional>
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

// Whether an ending of `few` tokens, found as if items could be equal, has so many to spare that it
// does not matter what the row has written. Each of its items may have to be another one: as many
// tokens again and kSpareTokens are enough for that. One of them may be forced to the longest value
// that the grammar offers, of `longest_part` bytes (Endings::LongestPart()).
inline bool IsFarFromEnd(int few, int rest, int longest_part) {
  constexpr int kSpareTokens = 32;
  return few <= rest && 2 * (rest - few) >= rest + kSpareTokens + longest_part;
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
  using Tokens = std::vector<TokenId>;
  static constexpr int kMaxLooks = 256;
  static constexpr std::int64_t kStepWork = 4'000;

  // An ending, and the states of the automaton before each byte of it and behind the last one.
  struct Ending : Endings::Spelled {
    std::vector<TermId> path;
  };
  // What a token of a string is: bytes of the string; and from its quote on, where it has one.
  struct Parts {
    absl::string_view inside;
    absl::string_view behind;
    bool has_escape = false;
  };
  // What stands for the tokens that have the same behind a quote.
  struct BehindQuote {
    bool fits = false;
    Ending ending = {};
  };

  void AddFitting(const ClosingLevel& level);
  void AddInString(TokenMask tokens);
  void AddWithin(TokenMask tokens);
  void AddLeaving(const TokenMask& tokens);
  void AddOutside(const TokenMask& tokens);
  // Tokens of one level that begin no known ending: one stands for those that write another value.
  void AddAlike(const Tokens& tokens);

  // Whether an ending behind `id` has at most `rest_`; `*ending`, where asked for: that.
  bool Fits(TokenId id, Ending* ending = nullptr);
  // Whether `id`, of which `text` is left to compare, goes along `ending` of the state that the
  // text begins in, and what is left of it fits. Nothing where it goes another way.
  std::optional<bool> FitsAlong(TokenId id, absl::string_view text, bool in_string,
                                const std::optional<Ending>& ending);
  // The state of the row behind a token of the mask.
  State Behind(TokenId id);
  std::optional<Ending> EndingFrom(State state);
  // The ending of the row's own state, and that behind a character of a string; each made once.
  const std::optional<Ending>& HereEnding();
  const std::optional<Ending>& InsideEnding();
  // Whether `ending`, that of a token of a level, is one of all its tokens, as far as states go.
  bool IsOfAll(const Ending& ending);
  [[nodiscard]] static Parts PartsOf(absl::string_view bytes);

  // Tokens that may make the string at hand equal to a string written before.
  void FindSpecial();
  void AddSpecial(absl::string_view text, Tokens* special) const;
  // Tokens within the string at hand by which it is one that `ending`, which ends it, writes again.
  [[nodiscard]] Tokens WrittenBy(absl::string_view ending) const;
  // Outside of strings: tokens behind which the value at hand may become the equal of another.
  void FindTaken();

  const TokenStepper& stepper_;
  const RowStates& states_;
  Endings& endings_;
  const State state_;
  const TokenMask& mask_;
  const int rest_;
  Budget budget_;
  Work work_;
  TokenMask fitting_;
  bool in_string_ = false;
  // In a string: the tokens that end it, what is written of it, and what is left of those that it
  // may become.
  TokenMask leaving_;
  std::string begun_;
  std::vector<std::string> rests_;
  Tokens special_;
  int looks_ = 0;
  absl::flat_hash_map<Hash128, bool> fits_;                           // by the key of a state
  absl::flat_hash_map<absl::string_view, BehindQuote> behind_quote_;  // by what a token has there
  std::optional<std::optional<Ending>> here_;
  std::optional<std::optional<Ending>> inside_;
  std::optional<Tokens> taken_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_OWN_H_
