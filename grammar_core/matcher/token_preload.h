// Has the processor fetch what several rows' next tokens will read, of all rows at once.
//
// Why      a step of many rows walks as many automata, whose states are seldom in the caches: row
//          by row each read of memory is waited for before the next one is known; here as many are
//          under way as there are rows.
// Exact    nothing is made or changed: known transitions are followed, and a row's walk ends at the
//          first that is not.
// Threads  one thread at a time; it must be the one that may use the rows.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_TOKEN_PRELOAD_H_
#define MASKD_GRAMMAR_CORE_MATCHER_TOKEN_PRELOAD_H_

#include <atomic>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

class TokenPreload {
 public:
  // A row that stands at `state` and will take `tokens`; they must live until Run(). Tokens out of
  // range end its walk.
  void Add(const TokenStepper& stepper, TokenStepper::State state, std::span<const TokenId> tokens);

  // Walks all rows that were added, and forgets them.
  void Run();

 private:
  struct Walk {
    const Automaton* automaton;
    const Vocabulary* vocabulary;
    std::span<const TokenId> tokens;  // after the one whose bytes are walked
    absl::string_view bytes;          // left of it
    const StateLinks* links;          // of its state
    StateWays ways = StateWays(0);
  };

  // These say whether the walk goes on: the next token, then for each byte where its transition
  // stands, and the state that it leads to.
  static bool BeginToken(Walk* walk);
  static bool FindTransition(Walk* walk);
  static bool Follow(Walk* walk);
  // Of the byte that is walked next.
  static int NextClass(const Walk& walk);

  std::vector<Walk> walks_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TOKEN_PRELOAD_H_
