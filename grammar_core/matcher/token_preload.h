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

#include <span>
#include <vector>

#include "grammar_core/base/row_state.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class TokenStepper;

// The rows whose walks are to be fetched, and how far each has got.
class TokenPreload {
 public:
  // Keeps memory for as many walks as were added at once.
  TokenPreload();
  ~TokenPreload();
  TokenPreload(const TokenPreload&) = delete;
  TokenPreload& operator=(const TokenPreload&) = delete;

  // A row that stands at `state` and will take `tokens`; they must live until Run(). Tokens out of
  // range end its walk.
  void Add(const TokenStepper& stepper, RowStateId state, std::span<const TokenId> tokens);

  // Walks all rows that were added, and forgets them.
  void Run();

 private:
  struct Walk;

  // These say whether the walk goes on: the next token, then for each byte where its transition
  // stands, and the state that it leads to.
  static bool BeginToken(Walk* walk);
  static bool FindTransition(Walk* walk);
  static bool Follow(Walk* walk);
  // The class of the byte that is walked next.
  static int NextClass(const Walk& walk);

  std::vector<Walk> walks_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TOKEN_PRELOAD_H_
