// A Sequence that is only read: every token of the vocabulary is taken, and a stop id ends it.
#include "grammar_core/base/error.h"
#include "service/base/errors.h"
#include "service/sequences/sequence.h"

namespace maskd::service {

absl::Status Sequence::TakeObserved(TokenId token) {
  const int size = grammar().tokenizer().vocabulary().size();
  if (token < 0 || token >= size) return TokenOutOfRange("", token, size);
  history_.Push(token, 0);
  if (!finished() && IsStop(token)) observed_end_ = token_count();
  return absl::OkStatus();
}

// Behind a stop id all is over, and what is no token has no position.
absl::Status Sequence::FillObserved(const Draft& draft,
                                    std::vector<SequencePosition>* positions) const {
  using State = SequencePosition::State;
  if (absl::Status checked = CheckDraft(draft); !checked.ok()) return checked;
  const int size = grammar().tokenizer().vocabulary().size();
  positions->resize(draft.tokens.size() + 1);
  (*positions)[0] = {.state = finished() ? State::kFinished : State::kFree,
                     .may_end = true,
                     .token_count = token_count()};
  for (std::size_t i = 0; i < draft.tokens.size(); ++i) {
    const SequencePosition& before = (*positions)[PositionBefore(draft, i)];
    const TokenId token = draft.tokens[i];
    if (before.state == State::kInvalid || token < 0 || token >= size) continue;
    const bool is_over = before.state == State::kFinished || IsStop(token);
    (*positions)[i + 1] = {.state = is_over ? State::kFinished : State::kFree,
                           .may_end = true,
                           .token_count = before.token_count + 1};
  }
  return absl::OkStatus();
}

}  // namespace maskd::service
