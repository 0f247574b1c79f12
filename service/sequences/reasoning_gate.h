// Where free reasoning ends and a row's grammar begins: a sequence of tokens, found token by token.
//
// Place    how many tokens of the end have been seen in a row, ready for the next one
//          (Knuth-Morris-Pratt: an end that begins inside a false start is found). It is all the
//          state there is, so rows keep it with each token and roll back over it.
// Budget   after so many tokens of reasoning only the rest of the end is allowed.
// Threads  immutable; shared by a row and its forks.
#ifndef MASKD_SERVICE_SEQUENCES_REASONING_GATE_H_
#define MASKD_SERVICE_SEQUENCES_REASONING_GATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/tokenizer/vocabulary.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {

// A gate as a client asks for it.
struct GateRequest {
  std::vector<TokenId> end_tokens = {};          // or
  std::string style = {};                        // a named one
  std::vector<TokenId> prompt_tail = {};         // last tokens of the prompt
  std::optional<int> max_tokens = std::nullopt;  // of reasoning; nothing: no bound
  bool constrain_inside = false;                 // the grammar holds from the first token: no gate
};

// The end of reasoning that one row waits for.
class ReasoningGate {
 public:
  using Place = int;

  // Errors: INVALID_ARGUMENT (neither or both of end_tokens and style, an unknown style, one that
  // the vocabulary has no token for), OUT_OF_RANGE (a token that the vocabulary does not have).
  static absl::StatusOr<std::shared_ptr<const ReasoningGate>> Create(
      const GateRequest& request, const LoadedTokenizer& tokenizer);

  // Behind the prompt.
  [[nodiscard]] Place start() const { return start_; }
  // Behind one token more. Requires !ended(place).
  [[nodiscard]] Place Next(Place place, TokenId token) const;
  [[nodiscard]] bool ended(Place place) const { return place == static_cast<int>(end_.size()); }

  // Whether a row that has taken `token_count` tokens of reasoning must end it now.
  [[nodiscard]] bool must_end(int token_count) const {
    return max_tokens_.has_value() && token_count >= *max_tokens_;
  }
  // Tokens of the whole end.
  [[nodiscard]] int end_size() const { return static_cast<int>(end_.size()); }
  // The token that the end lacks first. Requires !ended(place).
  [[nodiscard]] TokenId NextOfEnd(Place place) const {
    return end_[static_cast<std::size_t>(place)];
  }
  // The tokens that the end still lacks.
  [[nodiscard]] std::vector<TokenId> Rest(Place place) const {
    return {end_.begin() + place, end_.end()};
  }

  // Names that `style` may have.
  static std::string StyleNames();

 private:
  ReasoningGate(std::vector<TokenId> end, std::optional<int> max_tokens);

  std::vector<TokenId> end_;
  std::vector<Place> fallback_;  // [n]: the longest proper prefix of the end that ends its first n
  std::optional<int> max_tokens_;
  Place start_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_REASONING_GATE_H_
