// A place of a row, behind which masks can be made before the row asks for them.
//
// Opaque     to who keeps it: it names a state of an automaton, and says nothing about it.
// Ownership  keeps the grammar, not the automaton: one that rows have left is freed all the same,
//            and the place then leads nowhere.
// Threads    a plain value; Prefetch() from any thread, while the row goes on in another.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_PREFETCH_PLACE_H_
#define MASKD_GRAMMAR_CORE_MATCHER_PREFETCH_PLACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "grammar_core/base/row_state.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/warm_up_bounds.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

// A place and the grammar that it is in.
class PrefetchPlace {
 public:
  // Equal for equal places, of whatever rows: an automaton's serial number, and a state of it.
  using Key = std::pair<std::uint64_t, RowStateId>;

  // `state` is one of `automaton`, whose number is `serial`, and no row's own.
  PrefetchPlace(std::shared_ptr<const CompiledGrammar> grammar,
                const std::shared_ptr<MaskedAutomaton>& automaton, std::uint64_t serial,
                RowStateId state);

  // What other places are told from this one by.
  [[nodiscard]] const Key& key() const { return key_; }

  // Makes the masks that are likely asked for next, until a bound is met or `*cancelled` is set.
  void Prefetch(const WarmUpBounds& bounds, const std::atomic<bool>* cancelled) const;

 private:
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::weak_ptr<MaskedAutomaton> automaton_;
  Key key_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_PREFETCH_PLACE_H_
