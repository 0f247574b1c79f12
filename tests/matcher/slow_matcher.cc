#include "tests/matcher/slow_matcher.h"

#include <algorithm>

namespace maskd {

bool SlowMatcher::IsStop(TokenId token) const {
  const std::vector<TokenId>& stops = vocabulary_->stop_ids();
  return std::ranges::find(stops, token) != stops.end();
}

bool SlowMatcher::finished() const {
  return std::ranges::any_of(tokens_, [this](TokenId token) { return IsStop(token); });
}

PrefixOracle::State SlowMatcher::State() const {
  PrefixOracle::State state = oracle_->start();
  for (const TokenId token : tokens_)
    state = oracle_->StepText(state, vocabulary_->TokenBytes(token));
  return state;
}

bool SlowMatcher::Takes(PrefixOracle::State state, TokenId token) const {
  if (token < 0 || token >= vocabulary_->size()) return false;
  if (IsStop(token)) return oracle_->MayEnd(state);
  const absl::string_view bytes = vocabulary_->TokenBytes(token);
  if (vocabulary_->IsSpecial(token) || bytes.empty()) return false;
  return oracle_->StepText(state, bytes) != PrefixOracle::kDead;
}

bool SlowMatcher::Accept(TokenId token) {
  if (!finished() && !Takes(State(), token)) return false;
  tokens_.push_back(token);
  return true;
}

TokenMask SlowMatcher::Mask() const {
  TokenMask mask(vocabulary_->size());
  const PrefixOracle::State state = State();
  for (TokenId token = 0; token < vocabulary_->size(); ++token)
    if (Takes(state, token)) mask.Allow(token);
  return mask;
}

std::string SlowMatcher::ForcedBytes(int max_bytes) const {
  std::string forced;
  if (finished()) return forced;
  PrefixOracle::State state = State();
  while (static_cast<int>(forced.size()) < max_bytes && !oracle_->MayEnd(state)) {
    std::vector<unsigned char> bytes;
    for (int byte = 0; byte < 256; ++byte)
      if (oracle_->Step(state, static_cast<unsigned char>(byte)) != PrefixOracle::kDead)
        bytes.push_back(static_cast<unsigned char>(byte));
    if (bytes.size() != 1) break;
    forced.push_back(static_cast<char>(bytes[0]));
    state = oracle_->Step(state, bytes[0]);
  }
  return forced;
}

}  // namespace maskd
