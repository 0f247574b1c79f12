#include "grammar_core/tokenizer/merging.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/base/utf8.h"

namespace maskd {

Merging::Merging(absl::string_view piece, Symbols symbols, Ranks rank_of)
    : piece_(piece), rank_of_(rank_of) {
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t begin = at;
    const bool is_character = symbols != Symbols::kBytes && DecodeUtf8(piece, &at).has_value();
    const bool is_split =
        !is_character || (symbols == Symbols::kKnownCharacters &&
                          rank_of(piece.substr(begin, at - begin)) == OrdinaryTokens::kNoRank);
    if (is_split) at = begin + 1;
    begins_.push_back(begin);
  }
  begins_.push_back(piece.size());
  for (std::size_t i = 0; i + 2 < begins_.size(); ++i) pairs_.push_back(PairAt(i));
}

std::vector<absl::string_view> Merging::Parts() {
  while (!pairs_.empty()) {
    const auto lowest = std::min_element(pairs_.begin(), pairs_.end());
    if (*lowest == OrdinaryTokens::kNoRank) break;
    Merge(static_cast<std::size_t>(lowest - pairs_.begin()));
  }
  std::vector<absl::string_view> parts;
  for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
    assert(begins_[i] < begins_[i + 1]);
    parts.push_back(piece_.substr(begins_[i], begins_[i + 1] - begins_[i]));
  }
  return parts;
}

void Merging::Merge(std::size_t i) {
  assert(i < pairs_.size() && begins_.size() == pairs_.size() + 2);
  begins_.erase(begins_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
  if (i > 0) pairs_[i - 1] = PairAt(i - 1);
  if (i < pairs_.size()) pairs_[i] = PairAt(i);
}

}  // namespace maskd
