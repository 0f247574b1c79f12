// The tokens of a mask that hold parts of more than one item of an array whose items must differ,
// or of an item that may become the equal of one before it. Masks are made as if items could be
// equal; these tokens are then tried one by one.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_

#include <vector>

#include "grammar_core/automaton/term.h"
#include "grammar_core/automaton/work.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/token_index.h"

namespace maskd {

class Automaton;

class ItemTokens {
 public:
  // `index` must outlive this.
  ItemTokens(const GrammarIr& ir, const TokenIndex* index);

  // `mask`, made without what is behind `state`, as it is with that. Nothing when `work` failed.
  TokenMask Exact(Automaton* automaton, TermId state, const TokenMask& mask, Work& work) const;

 private:
  // In the order of their bytes, so that those that begin alike are side by side.
  using Tokens = std::vector<TokenId>;

  void FindOfStrings(const GrammarIr& ir);
  void FindOfValues();
  void Sort(Tokens* tokens) const;
  // Takes each of `of_strings_` and sets its bit by that.
  void TryStrings(Automaton* automaton, TermId state, TokenMask* mask, Work& work) const;
  // Forbids those of `tokens` that cannot be taken, going along their bytes as far as matters.
  void ForbidOf(const Tokens& tokens, Automaton* automaton, TermId state, TokenMask* mask,
                Work& work) const;
  // Whether something may be refused in `rest` behind `state`.
  static bool MayMatter(Automaton* automaton, TermId state, absl::string_view rest);
  // Forbids what cannot go on, along the bytes that may lead to a repetition.
  void ForbidRepeated(Automaton* automaton, TermId state, TokenMask* mask, Work& work) const;
  void ForbidBelow(std::size_t node, TokenMask* mask) const;

  const TokenIndex* index_;
  // Tokens that may hold so much of two strings that what is forgotten matters.
  Tokens of_strings_;
  // Tokens with a comma behind which a further item or member may be, and those where that may be
  // so if they begin within a string.
  Tokens with_comma_;
  Tokens out_of_string_;
  // Those of both that may begin an array before.
  Tokens with_array_;
  Tokens array_out_of_string_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
