// Cuts a text into tokens without the tokenizer's own merge rules: any spelling of a text leads a
// grammar to the same place, so tools and tests need no other.
//
// Threads  immutable once every token is added; any number of readers.
// Ownership  the tokens' bytes are the caller's and must outlive this.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_TEXT_SPLITTER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_TEXT_SPLITTER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// Add() all tokens first; then it is a trie that Split() reads.
class TextSplitter {
 public:
  TextSplitter() = default;
  // The ordinary tokens of `vocabulary`.
  explicit TextSplitter(const Vocabulary& vocabulary);

  // A token; of several with the same bytes the first one is used. Empty ones are not.
  void Add(absl::string_view bytes, TokenId id);

  // `text` from left to right, each time the longest token that fits. Nothing where a byte begins
  // no token.
  [[nodiscard]] std::optional<std::vector<TokenId>> Longest(absl::string_view text) const {
    return Split(text, [](std::size_t) { return std::size_t{0}; });
  }

  // Each time any token that fits: choose(n) picks one of n, longest first.
  template <typename Choose>
  [[nodiscard]] std::optional<std::vector<TokenId>> Split(absl::string_view text,
                                                          Choose choose) const {
    std::vector<TokenId> tokens;
    while (!text.empty()) {
      const std::vector<Piece> pieces = PiecesAt(text);
      if (pieces.empty()) return std::nullopt;
      const Piece& piece = pieces[choose(pieces.size())];
      tokens.push_back(piece.id);
      text.remove_prefix(piece.bytes);
    }
    return tokens;
  }

 private:
  struct Piece {
    TokenId id;
    std::size_t bytes;
  };

  // The tokens that `text` begins with, longest first.
  [[nodiscard]] std::vector<Piece> PiecesAt(absl::string_view text) const;

  absl::flat_hash_map<absl::string_view, TokenId> ids_;
  std::size_t longest_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_TEXT_SPLITTER_H_
