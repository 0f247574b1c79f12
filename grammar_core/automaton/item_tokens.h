// The tokens of a vocabulary that may hold parts of more than one item of an array: those with a
// comma that may stand between items or members.
//
// Order    by their bytes, so that tokens that begin alike are side by side.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_

#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/mask/token_index.h"

namespace maskd {

class ItemTokens {
 public:
  using Tokens = std::vector<TokenId>;

  // `index` must outlive this.
  explicit ItemTokens(const TokenIndex* index);

  // Those behind whose comma a further item or member may be; `in_string`: where they begin within
  // a string.
  [[nodiscard]] const Tokens& Holding(bool in_string) const {
    return in_string ? out_of_string_ : with_comma_;
  }
  // Those of them that may begin an array before the comma.
  [[nodiscard]] const Tokens& BeginningArray(bool in_string) const {
    return in_string ? array_out_of_string_ : with_array_;
  }
  [[nodiscard]] const TokenIndex& index() const { return *index_; }

  // Whether an array, or an object whose names must differ, may begin in `bytes` and have more than
  // one part.
  [[nodiscard]] static bool MayBeginArray(absl::string_view bytes);

 private:
  void Sort(Tokens* tokens) const;

  const TokenIndex* index_;
  Tokens with_comma_;
  Tokens out_of_string_;
  Tokens with_array_;
  Tokens array_out_of_string_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
