// A walk of the token trie along a sorted list of texts as the inside of a JSON string spells them,
// raw or escaped as their spelling has it. It makes no terms, so a property name that a grammar
// meets for the first time costs a few comparisons a trie node.
//
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TEXT_WALK_H_
#define MASKD_GRAMMAR_CORE_TERMS_TEXT_WALK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"

#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/token_trie.h"

namespace maskd {

// Texts that share their first `depth` characters, ascending.
struct TextList {
  std::vector<const std::u32string*> texts = {};
  std::uint32_t depth = 0;
  Spelling spelling = Spelling::kJsonString;  // or kCanonicalJson

  // Whether all that follows the first `depth` characters is ASCII: a walk requires it.
  [[nodiscard]] bool IsAscii() const;
};

using OnToken = absl::FunctionRef<void(std::size_t)>;
using OnQuote = absl::FunctionRef<void(std::size_t, std::uint32_t)>;

// Calls on_token(node) for each node whose bytes spell a beginning of what is left of a text, or
// all of it. Calls on_quote(node, text) for each node that is a quote behind the whole of
// texts[text], and goes no further down there. Nodes are indices of trie.nodes(). Returns how many
// nodes were visited.
std::int64_t WalkTexts(const TokenTrie& trie, const TextList& list, OnToken on_token,
                       OnQuote on_quote);

// The same for what tokens hold after the bytes of node `parent`.
std::int64_t WalkTextsBelow(const TokenTrie& trie, std::size_t parent, const TextList& list,
                            OnToken on_token, OnQuote on_quote);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TEXT_WALK_H_
