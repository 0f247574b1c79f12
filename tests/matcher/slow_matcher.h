// A matcher that is slow and obvious, over the prefix oracle: it keeps nothing but the tokens, and
// answers every question by reading the text again from its start, one byte after the other.
#ifndef MASKD_TESTS_MATCHER_SLOW_MATCHER_H_
#define MASKD_TESTS_MATCHER_SLOW_MATCHER_H_

#include <string>
#include <vector>

#include "grammar_core/mask/token_mask.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {

class SlowMatcher {
 public:
  // Both must outlive this.
  SlowMatcher(PrefixOracle* oracle, const Vocabulary* vocabulary)
      : oracle_(oracle), vocabulary_(vocabulary) {}

  // False: the token is refused and nothing changes.
  bool Accept(TokenId token);
  void Rollback(int count) { tokens_.resize(tokens_.size() - static_cast<std::size_t>(count)); }

  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool may_end() const { return !finished() && oracle_->MayEnd(State()); }
  [[nodiscard]] int token_count() const { return static_cast<int>(tokens_.size()); }
  // Every token that Accept() would take. Requires !finished().
  [[nodiscard]] TokenMask Mask() const;
  // The bytes that must come, at most `max_bytes`.
  [[nodiscard]] std::string ForcedBytes(int max_bytes) const;

 private:
  [[nodiscard]] PrefixOracle::State State() const;
  [[nodiscard]] bool Takes(PrefixOracle::State state, TokenId token) const;
  [[nodiscard]] bool IsStop(TokenId token) const;

  PrefixOracle* oracle_;
  const Vocabulary* vocabulary_;
  std::vector<TokenId> tokens_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_SLOW_MATCHER_H_
