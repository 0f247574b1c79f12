// Makes the masks that sequences of a grammar will ask for first, before they ask: while an engine
// still reads the prompt, in the time that a low-priority thread has left.
//
// Which     by their distance from the common path, a text on one line with every declared name: in
//           each state the names of an object, the tokens that punctuate texts (quotes, colons,
//           brackets, digits, with and without a space), and where few tokens are allowed, the
//           longest of them, as a tokenizer would choose.
// Exact     it only makes what any matcher would make; a sequence that runs meanwhile uses it.
// Errors    none: it ends early when the budget is spent or cancelled, or the grammar meets a
//           limit.
// Threads   any; several may warm one grammar.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_
#define MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_

#include <cstdint>
#include <memory>

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiled_grammar.h"

namespace maskd {

struct WarmUpBounds {
  int masks = 8192;
  std::int64_t wall_ms = 10;
};

// The number of states whose masks it made or found.
int WarmUp(const CompiledGrammar& grammar, const WarmUpBounds& bounds,
           const std::atomic<bool>* cancelled = nullptr);

// The same for what all grammars of a tokenizer share: JSON's strings, numbers and white space.
void WarmUpTokenizer(const std::shared_ptr<TokenizerSpace>& tokenizer);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_
