// The tokens of one piece whose scores have the greatest sum: the unigram models of SentencePiece.
//
// Method    forward from the start: the best way to a place depends on what is before it alone.
// Certain   The library sums in floats, whose rounding depends on all of the text before. So where
//           two ways to a place are closer than kTie, neither is certain.
// Source    What sentencepiece 0.2 does: a piece that the user has defined counts its bytes times
//           the best score, less 0.1; a character that is no token the worst score less 10. A space
//           counts as three bytes, which U+2581 has.
// Threads   a plain value that reads the caller's piece and tokens.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_BEST_SUM_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_BEST_SUM_H_

#include <cassert>
#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/ordinary_tokens.h"

namespace maskd {

// What each token adds, by id, and a character that is none.
struct TokenScores {
  // One pass over the vocabulary. Scores are those of its encoding rules.
  static TokenScores Create(const Vocabulary& vocabulary, const std::vector<bool>& left_out);

  std::vector<double> of_token;
  double of_unknown = 0;
};

// The best ways of one piece, found when it is made: a look-up for each token that fits at each
// place.
class BestSum {
 public:
  static constexpr double kTie = 0.05;

  // `piece` must outlive this; `tokens` and `scores` are read now alone.
  BestSum(absl::string_view piece, const OrdinaryTokens& tokens, const TokenScores& scores);

  // The parts of the best way to `end`, a border of characters. Each is a token or a character.
  [[nodiscard]] std::vector<absl::string_view> PartsTo(std::size_t end) const;

  // The last place up to which all good ways to `end` are one. 0 where `end` is in a character.
  [[nodiscard]] std::size_t CertainTo(std::size_t end) const {
    assert(end < places_.size());
    return places_[end].certain;
  }
  // The last place up to which the ways to two certain places are one.
  [[nodiscard]] std::size_t Meet(std::size_t x, std::size_t y) const;

 private:
  struct Place {
    double sum = 0;
    std::size_t previous = 0;  // on the best way
    std::size_t certain = 0;
    bool is_reached = false;
  };

  void Reach(std::size_t from, std::size_t to, double score);

  absl::string_view piece_;
  std::vector<Place> places_;  // by bytes before them
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_BEST_SUM_H_
