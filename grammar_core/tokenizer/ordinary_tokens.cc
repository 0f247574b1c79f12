#include "grammar_core/tokenizer/ordinary_tokens.h"

#include <algorithm>
#include <cassert>

namespace maskd {

OrdinaryTokens::OrdinaryTokens(const Vocabulary& vocabulary, const std::vector<bool>& left_out)
    : vocabulary_(vocabulary) {
  ids_.reserve(static_cast<std::size_t>(vocabulary.size()));
  assert(left_out.size() == static_cast<std::size_t>(vocabulary.size()));
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const absl::string_view bytes = vocabulary.TokenBytes(id);
    // A character comes later than the byte that stands in for a missing one.
    if (!bytes.empty() && !left_out[static_cast<std::size_t>(id)]) ids_[bytes] = id;
  }
  sorted_.reserve(ids_.size());
  for (const auto& [bytes, id] : ids_) sorted_.push_back(id);
  std::sort(sorted_.begin(), sorted_.end(), [&](TokenId x, TokenId y) {
    return vocabulary.TokenBytes(x) < vocabulary.TokenBytes(y);
  });
  RankByScores(vocabulary.encoding_rules().scores);
}

// Equal scores are equal ranks.
void OrdinaryTokens::RankByScores(const std::vector<float>& scores) {
  if (scores.empty()) return;
  assert(scores.size() == static_cast<std::size_t>(vocabulary_.size()));
  std::vector<TokenId> by_score = sorted_;
  const auto score = [&](TokenId id) { return scores[static_cast<std::size_t>(id)]; };
  std::sort(by_score.begin(), by_score.end(),
            [&](TokenId x, TokenId y) { return score(x) > score(y); });
  ranks_.resize(static_cast<std::size_t>(vocabulary_.size()));
  int rank = 0;
  for (std::size_t i = 0; i < by_score.size(); ++i) {
    if (i > 0 && score(by_score[i]) < score(by_score[i - 1])) ++rank;
    ranks_[static_cast<std::size_t>(by_score[i])] = rank;
  }
}

TokenId OrdinaryTokens::Find(absl::string_view bytes) const {
  const auto found = ids_.find(bytes);
  return found == ids_.end() ? kNone : found->second;
}

int OrdinaryTokens::RankOf(absl::string_view bytes) const {
  const TokenId id = Find(bytes);
  if (id == kNone) return kNoRank;
  return ranks_.empty() ? id : ranks_[static_cast<std::size_t>(id)];
}

bool OrdinaryTokens::HasLonger(absl::string_view bytes) const {
  const auto after = std::upper_bound(
      sorted_.begin(), sorted_.end(), bytes,
      [&](absl::string_view x, TokenId y) { return x < vocabulary_.TokenBytes(y); });
  return after != sorted_.end() && vocabulary_.TokenBytes(*after).substr(0, bytes.size()) == bytes;
}

void OrdinaryTokens::Narrow(std::size_t at, char byte, std::size_t* first,
                            std::size_t* last) const {
  assert(*first <= *last && *last <= sorted_.size());
  const auto wanted = static_cast<unsigned char>(byte);
  // The byte at `at`; -1 behind the end.
  const auto byte_of = [&](TokenId id) {
    const absl::string_view bytes = vocabulary_.TokenBytes(id);
    return bytes.size() <= at ? -1 : static_cast<int>(static_cast<unsigned char>(bytes[at]));
  };
  const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(*first);
  const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(*last);
  const auto from =
      std::partition_point(begin, end, [&](TokenId id) { return byte_of(id) < wanted; });
  const auto to =
      std::partition_point(from, end, [&](TokenId id) { return byte_of(id) == wanted; });
  *first = static_cast<std::size_t>(from - sorted_.begin());
  *last = static_cast<std::size_t>(to - sorted_.begin());
}

}  // namespace maskd
