// A pattern by which a tokenizer cuts texts into pieces, as tokenizer files write it.
//
// Syntax   what RE2 takes and means as Oniguruma and fancy-regex do: no borders of lines, flags but
//          (?i: and sets within sets. \s and \S are those of Unicode. And at its end
//          \s+(?!\S)|\s+, with which most patterns end: white space without the last of it, if
//          something follows.
// Threads  immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_PIECE_PATTERN_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_PIECE_PATTERN_H_

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace maskd {

// Made once for each pattern of a vocabulary: RE2 compiles it then.
class PiecePattern {
 public:
  // Null for a pattern that is not understood.
  static std::unique_ptr<const PiecePattern> Create(absl::string_view pattern);
  ~PiecePattern();

  // Appends the pieces of `text`, which is UTF-8: they are parts of it, and together all of it.
  void Cut(absl::string_view text, std::vector<absl::string_view>* pieces) const;

 private:
  PiecePattern();

  std::unique_ptr<const re2::RE2> regex_;
  // Its last group holds white space that comes before something else; 0: there is none.
  int space_group_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_PIECE_PATTERN_H_
