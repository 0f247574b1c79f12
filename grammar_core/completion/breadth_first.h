// The fewest tokens that complete a text, by a breadth-first search over states, a token a level.
//
// Left out  What cannot end in time, by the bound of bytes or by what a search has shown before.
//           States that were met in as few tokens, or of which a wider one was (late_states.h).
//           Tokens that stay in a string of any number of characters lead to such, and are not
//           walked. Where no token goes on behind a number, one of its ends is enough.
// Errors    by Work; then nothing is shown.
// Threads   as RowStates. One search each.
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_BREADTH_FIRST_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_BREADTH_FIRST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/completion/late_states.h"
#include "grammar_core/completion/token_search.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// A search from one state.
class BreadthFirst {
 public:
  using State = RowStates::State;

  // Finds completions of at most `max_tokens`. All must outlive this, and a RowStates::Scratch be
  // there.
  BreadthFirst(const TokenSearch& search, int max_tokens, Work* work)
      : search_(search), states_(*search.states), max_tokens_(max_tokens), work_(*work) {}

  // False if there is none, or `work` failed. Where there is none, `search.late` knows it then.
  bool Run(State start);

  // After it: the tokens, in their order.
  [[nodiscard]] std::vector<TokenId>& tokens() { return tokens_; }

 private:
  struct Arrival {
    State from;
    TokenId token;
    int tokens;  // from the start
  };

  // Takes each token in `state`; true at one after which the text may end.
  bool Expand(State state);
  // The nodes of all tokens that `state` may take, as VisitTrieSteps().
  template <typename Enter, typename Visit>
  bool VisitFirst(State state, Enter enter, Visit visit);
  bool ExpandNamed(State state);
  // Where `state` begins with a number that no token leads from within to behind it: one token that
  // ends it, and the state after it. Nothing where there is none.
  struct NumberEnd {
    TokenId token;
    State behind;
  };
  std::optional<NumberEnd> EndOfNumber(State state);
  [[nodiscard]] bool BeginsWithNumber(State state) const;
  // The state after such a number where it may end: no text ends sooner if the number goes on. Else
  // `state` itself.
  [[nodiscard]] State WithoutCompleteNumber(State state) const;
  // The string that `state` stands within a character of, where that was met and all tokens that
  // stay within it can be left out; else `state`.
  [[nodiscard]] State StringAround(State state) const;
  // The characters of the string of one set that `state` is in; nothing where it is in none, or in
  // one that must have many more.
  [[nodiscard]] std::optional<Closure> ClosureOf(State state) const;
  // Takes the tokens of those characters.
  bool ExpandWithin(State state, const Closure& closure);
  // One of `tokens` that is text and not among `but`.
  [[nodiscard]] std::optional<TokenId> FirstText(TokenMask tokens, const TokenMask& but) const;
  // Whether the text can end after what is left of a token of which `depth` bytes are behind, and
  // the tokens that are left then.
  [[nodiscard]] bool CanEndInTime(State state, std::uint32_t depth) const;
  // True if the text may end in `next`.
  bool Arrive(State from, TokenId token, State next);
  // Whether `next` is new, and nothing wider was met.
  bool IsWidest(State next);
  void Trace(State start);

  const TokenSearch& search_;
  const RowStates& states_;
  const int max_tokens_;
  Work& work_;
  int tokens_left_ = 0;  // after the level in work
  absl::flat_hash_map<State, Arrival> arrivals_;
  absl::flat_hash_map<WideState::Key, std::uint32_t> widest_;
  std::vector<State> level_;
  std::array<State, 256> recent_;  // some of those that were arrived at, at hand
  std::pair<State, TokenId> last_ = {};
  std::vector<TokenId> tokens_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_BREADTH_FIRST_H_
