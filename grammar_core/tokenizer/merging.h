// The symbols of one piece, merged until no two neighbours are a token: byte-pair encoding.
//
// Threads  a plain value that reads the caller's piece and ranks.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_MERGING_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_MERGING_H_

#include <cassert>
#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/ordinary_tokens.h"

namespace maskd {

// For one piece: make it, then ask for Parts() once.
class Merging {
 public:
  // What the piece is cut into before anything is merged.
  enum class Symbols {
    kBytes,
    kCharacters,
    kKnownCharacters,  // and the bytes of those that are no token
  };

  // Of several pairs to merge that with the lowest rank is the first; kNoRank is no token's.
  using Ranks = absl::FunctionRef<int(absl::string_view bytes)>;

  // `rank_of` must outlive this, and so must the bytes of `piece`, which the parts view.
  Merging(absl::string_view piece, Symbols symbols, Ranks rank_of);

  // The parts of the piece that are left. Each is a token, or a symbol that is none.
  std::vector<absl::string_view> Parts();

 private:
  // The rank of symbols i and i + 1 as one.
  [[nodiscard]] int PairAt(std::size_t i) const {
    assert(i + 2 < begins_.size());
    return rank_of_(piece_.substr(begins_[i], begins_[i + 2] - begins_[i]));
  }

  void Merge(std::size_t i);

  absl::string_view piece_;
  Ranks rank_of_;
  std::vector<std::size_t> begins_;  // of the symbols, and the end of the last
  std::vector<int> pairs_;           // one less than symbols
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_MERGING_H_
