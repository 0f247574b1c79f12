// The tokens of a mask that repeat an item of an array whose items must differ. Masks are made as
// if items could be equal; what the row has written forbids some of their tokens: those that hold
// parts of more than one item, and those of an item that may become the equal of one before it.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_

#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/row_memory.h"
#include "grammar_core/automaton/work.h"
#include "grammar_core/base/held_bytes.h"
#include "grammar_core/mask/token_index.h"

namespace maskd {

class ItemTokens {
 public:
  // `index` must outlive this.
  explicit ItemTokens(const TokenIndex* index);

  // Those of `mask`, made without what is behind `state`, that cannot be taken there. Nothing when
  // `work` failed.
  [[nodiscard]] std::vector<TokenId> FindRepeated(RowMemory* row, RowMemory::State state,
                                                  const TokenMask& mask, Work& work) const;

  [[nodiscard]] std::int64_t held_bytes() const {
    return HeldBytes(with_comma_) + HeldBytes(out_of_string_) + HeldBytes(with_array_) +
           HeldBytes(array_out_of_string_);
  }

 private:
  class Search;
  // In the order of their bytes, so that those that begin alike are side by side.
  using Tokens = std::vector<TokenId>;

  void Sort(Tokens* tokens) const;

  const TokenIndex* index_;
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
