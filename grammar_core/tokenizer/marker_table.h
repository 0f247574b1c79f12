// Tokens whose spelling stands for them wherever a format writes it out: the markers that models
// begin and end the parts of their answers with, such as "<tool_call>" or "<|channel|>".
//
// Which    every special token, and the ordinary tokens that a file lists beside its model
//          ("added", "user defined") and that look like markup: they hold an angle or square
//          bracket, a bar or a fullwidth bar, and no white space. Added runs of spaces and added
//          words are text as any other.
// Spelling of two tokens that are spelled the same, the special one, else the one with the smaller
//          id.
// Threads  immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_MARKER_TABLE_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_MARKER_TABLE_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// One for each vocabulary, read by the formats of answers.
class MarkerTable {
 public:
  static constexpr TokenId kNone = -1;

  // A run of a text: a marker, or (kNone) what stands between two.
  struct Piece {
    absl::string_view text;
    TokenId marker = kNone;
  };

  // One pass over the vocabulary, which is kept alive.
  explicit MarkerTable(std::shared_ptr<const Vocabulary> vocabulary);

  // `text` cut at its markers, from the left, of several at one place the longest. No piece is
  // empty. The pieces view `text`. What begins behind the first `bytes` bytes is left out.
  using Pieces = absl::InlinedVector<Piece, 4>;
  [[nodiscard]] Pieces Cut(absl::string_view text,
                           std::size_t bytes = absl::string_view::npos) const;

  // Whether any begins in the first `bytes` bytes of `text`.
  [[nodiscard]] bool HasMarker(absl::string_view text, std::size_t bytes) const;

  // The marker that is spelled `text`, or kNone.
  [[nodiscard]] TokenId Find(absl::string_view text) const;

  // Whether ordinary tokens can spell `text`. Linear in the vocabulary where a byte of it is no
  // token by itself.
  [[nodiscard]] bool CanSpell(absl::string_view text) const;

  // The one whose markers these are.
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  void Add(TokenId id);
  // The longest marker at the start of `text`, or kNone.
  [[nodiscard]] TokenId At(absl::string_view text) const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  absl::flat_hash_map<absl::string_view, TokenId> by_text_;
  // Sizes of those texts by their first two bytes, the largest first.
  absl::flat_hash_map<std::uint16_t, std::vector<std::size_t>> sizes_;
  std::bitset<256> first_bytes_;      // of those texts
  std::bitset<256> byte_is_a_token_;  // ordinary tokens of one byte
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_MARKER_TABLE_H_
