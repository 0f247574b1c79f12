// The tokens that texts become, by their bytes: without special ones, atoms, unused ones and those
// that only stand in for bytes (encoding_rules.h).
//
// Cost     made once, 10 to 20 ms for 128,000 tokens.
// Threads  immutable; any number of readers. The vocabulary must outlive this.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_ORDINARY_TOKENS_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_ORDINARY_TOKENS_H_

#include <cassert>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// A sorted list and a map by bytes; they view the vocabulary's bytes.
class OrdinaryTokens {
 public:
  static constexpr TokenId kNone = -1;

  // `left_out[id]`: not one of them.
  OrdinaryTokens(const Vocabulary& vocabulary, const std::vector<bool>& left_out);

  // The token of `bytes`, or kNone.
  [[nodiscard]] TokenId Find(absl::string_view bytes) const;
  // Of several pairs to merge that with the lowest rank is the first; kNoRank for no token.
  static constexpr int kNoRank = std::numeric_limits<int>::max();
  [[nodiscard]] int RankOf(absl::string_view bytes) const;
  // Whether a token begins with `bytes` and goes on.
  [[nodiscard]] bool HasLonger(absl::string_view bytes) const;

  // Calls visit(id, bytes) with each token that `text` begins with, the shortest first.
  template <typename Visit>
  void EachAtStart(absl::string_view text, Visit visit) const {
    std::size_t first = 0;
    std::size_t last = sorted_.size();
    for (std::size_t size = 1; size <= text.size() && first < last; ++size) {
      Narrow(size - 1, text[size - 1], &first, &last);
      // Among those with the same start the shortest stand first.
      if (first < last && BytesOf(first).size() == size) visit(sorted_[first], size);
    }
  }

 private:
  [[nodiscard]] absl::string_view BytesOf(std::size_t place) const {
    assert(place < sorted_.size());
    return vocabulary_.TokenBytes(sorted_[place]);
  }
  // Leaves of the tokens at `first` to `last`, which agree before `at`, those with `byte` there.
  void Narrow(std::size_t at, char byte, std::size_t* first, std::size_t* last) const;

  void RankByScores(const std::vector<float>& scores);

  const Vocabulary& vocabulary_;
  absl::flat_hash_map<absl::string_view, TokenId> ids_;
  std::vector<TokenId> sorted_;  // by their bytes
  std::vector<int> ranks_;       // by id; none: the ids
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_ORDINARY_TOKENS_H_
