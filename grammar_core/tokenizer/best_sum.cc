#include "grammar_core/tokenizer/best_sum.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr double kUserDefinedLoss = 0.1;
constexpr std::size_t kSpaceMarkBytes = 3;

// Bytes of a token as the model spells it.
std::size_t SpelledBytes(absl::string_view bytes) {
  const auto spaces = std::count(bytes.begin(), bytes.end(), ' ');
  return bytes.size() + static_cast<std::size_t>(spaces) * (kSpaceMarkBytes - 1);
}

}  // namespace

TokenScores TokenScores::Create(const Vocabulary& vocabulary, const std::vector<bool>& left_out) {
  const EncodingRules& rules = vocabulary.encoding_rules();
  TokenScores scores;
  if (rules.scores.empty()) return scores;
  scores.of_token.assign(rules.scores.begin(), rules.scores.end());
  std::vector<bool> is_user_defined(scores.of_token.size());
  assert(left_out.size() == scores.of_token.size());
  for (const TokenId id : rules.user_defined) is_user_defined[static_cast<std::size_t>(id)] = true;
  double worst = std::numeric_limits<double>::max();
  double best = std::numeric_limits<double>::lowest();
  for (std::size_t id = 0; id < scores.of_token.size(); ++id) {
    if (left_out[id] || is_user_defined[id]) continue;
    worst = std::min(worst, scores.of_token[id]);
    best = std::max(best, scores.of_token[id]);
  }
  for (const TokenId id : rules.user_defined) {
    const auto bytes = static_cast<double>(SpelledBytes(vocabulary.TokenBytes(id)));
    scores.of_token[static_cast<std::size_t>(id)] = bytes * best - kUserDefinedLoss;
  }
  scores.of_unknown = worst - EncodingRules::kUnknownPenalty;
  return scores;
}

BestSum::BestSum(absl::string_view piece, const OrdinaryTokens& tokens, const TokenScores& scores)
    : piece_(piece), places_(piece.size() + 1) {
  places_[0].is_reached = true;
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t begin = at;
    if (!DecodeUtf8(piece, &at).has_value()) at = begin + 1;
    if (!places_[begin].is_reached) continue;
    bool is_character = false;
    tokens.EachAtStart(piece.substr(begin), [&](TokenId id, std::size_t size) {
      is_character = is_character || begin + size == at;
      Reach(begin, begin + size, scores.of_token[static_cast<std::size_t>(id)]);
    });
    if (!is_character) Reach(begin, at, scores.of_unknown);
  }
}

void BestSum::Reach(std::size_t from, std::size_t to, double score) {
  assert(from < to && to < places_.size() && places_[from].is_reached);
  Place& place = places_[to];
  const std::size_t certain = places_[from].certain;
  const double sum = places_[from].sum + score;
  const bool is_first = !std::exchange(place.is_reached, true);
  if (!is_first && sum < place.sum - kTie) return;
  if (is_first || sum > place.sum + kTie) {
    place = {sum, from, certain == from ? to : certain, true};
    return;
  }
  const std::size_t other = place.certain == to ? place.previous : place.certain;
  place.certain = Meet(other, certain);
  if (sum > place.sum) {
    place.sum = sum;
    place.previous = from;
  }
}

std::size_t BestSum::Meet(std::size_t x, std::size_t y) const {
  assert(x < places_.size() && y < places_.size());
  while (x != y) {
    std::size_t& later = x > y ? x : y;
    assert(places_[later].previous < later);
    later = places_[later].previous;
  }
  return x;
}

std::vector<absl::string_view> BestSum::PartsTo(std::size_t end) const {
  assert(end < places_.size() && places_[end].is_reached);
  std::vector<absl::string_view> parts;
  while (end > 0) {
    const std::size_t begin = places_[end].previous;
    parts.push_back(piece_.substr(begin, end - begin));
    end = begin;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace maskd
