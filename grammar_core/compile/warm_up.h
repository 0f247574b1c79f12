// Prefetch: makes the masks that sequences of a grammar will ask for, before they ask: those of its
// beginning while an engine still reads the prompt. Those behind a place of a sequence, while the
// engine chooses the token that leads there, are asked for by matcher/prefetch_place.h.
// Which     by their distance from the common path, a text on one line with every declared name.
//           From each state go the names of an object and the tokens that punctuate texts: quotes,
//           colons, brackets, digits, with and without a space. Where few tokens are allowed, the
//           longest of them goes on as well, as a tokenizer would choose.
// Exact     it only makes what any matcher would make; a sequence that runs meanwhile uses it.
// Errors    none: it ends early at its deadline or when cancelled, or where the grammar meets a
//           limit.
// Threads   any; several may warm one grammar.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_
#define MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_

#include <atomic>
#include <memory>

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/warm_up_bounds.h"

namespace maskd {

// The number of states whose masks it made or found.
int WarmUp(const CompiledGrammar& grammar, const WarmUpBounds& bounds,
           const std::atomic<bool>* cancelled = nullptr);

// The same for what all grammars of a tokenizer share: JSON's strings, numbers and white space.
void WarmUpTokenizer(const std::shared_ptr<TokenizerSpace>& tokenizer);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_H_
