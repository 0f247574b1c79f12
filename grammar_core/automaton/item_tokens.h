// The tokens of a vocabulary that may hold parts of more than one item of an array: those with a
// comma that may stand between items or members.
//
// Ends     some end the string they begin in, and stop within the white space or the string behind
//          the comma. These are known by their parts: nothing of them has to be read again.
// Order    by their bytes, so that tokens that begin alike are side by side.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/mask/token_index.h"

namespace maskd {

// The tokens of a vocabulary that hold the end of an item and more, sorted once.
class ItemTokens {
 public:
  using Tokens = std::vector<TokenId>;

  // What a token has from the quote that ends a string on: that quote, a comma, then a string, or
  // several with a comma behind each, or nothing, and white space between them.
  struct Onward {
    absl::string_view bytes;
    std::vector<absl::string_view> whole;  // the strings that end in it
    bool opened;                           // whether a last one begins, and what it has of it
    absl::string_view begun;               // whole characters
    bool escapes;                          // a backslash behind those
  };
  // A token: what is left of the string, as it is spelled and decoded, and onward()[at].
  struct End {
    TokenId id;
    absl::string_view rest;
    std::string text;
    std::uint32_t at;
  };

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
  // Of Holding(true): those of such parts, behind a whole character, and all others.
  [[nodiscard]] const std::vector<End>& ends() const { return ends_; }
  [[nodiscard]] const std::vector<Onward>& onward() const { return onward_; }
  [[nodiscard]] const Tokens& OtherEnds() const { return other_ends_; }
  [[nodiscard]] const TokenIndex& index() const { return *index_; }

  // Whether an array, or an object whose names must differ, may begin in `bytes` and have more than
  // one part.
  [[nodiscard]] static bool MayBeginArray(absl::string_view bytes);

  // Bytes of the lists; the bytes of tokens are the vocabulary's.
  [[nodiscard]] std::int64_t held_bytes() const {
    return HeldBytes(with_comma_) + HeldBytes(out_of_string_) + HeldBytes(with_array_) +
           HeldBytes(array_out_of_string_) + HeldBytes(other_ends_) + HeldBytes(onward_) +
           HeldBytes(ends_, [](const End& end) { return HeldBytes(end.text); });
  }

 private:
  void Sort(Tokens* tokens) const;
  void SortEnds();

  const TokenIndex* index_;
  Tokens with_comma_;
  Tokens out_of_string_;
  Tokens with_array_;
  Tokens array_out_of_string_;
  Tokens other_ends_;
  std::vector<End> ends_;
  std::vector<Onward> onward_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_ITEM_TOKENS_H_
