#include "grammar_core/matcher/matcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/shortest_path.h"
#include "grammar_core/base/error.h"

namespace maskd {

Matcher::Matcher(std::shared_ptr<const CompiledGrammar> grammar, std::vector<TokenId> stop_ids)
    : stepper_(std::move(grammar), std::move(stop_ids)),
      history_(stepper_.grammar().automaton().start()) {}

absl::Status Matcher::Accept(TokenId token) {
  if (finished()) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const TokenStepper::Step step = stepper_.Take(history_.back(), token, work);
  if (step.outcome == TokenStepper::Outcome::kMoved) {
    history_.Push(step.next);
    return absl::OkStatus();
  }
  if (step.outcome == TokenStepper::Outcome::kEnded) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  return stepper_.ErrorOf(step, token, work);
}

absl::StatusOr<MaskRef> Matcher::Mask() {
  if (finished()) return MaskRef();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  MaskRef mask = stepper_.Mask(history_.back(), work);
  if (mask == nullptr) return work.error();
  return mask;
}

absl::Status Matcher::MaskDraft(const Draft& draft, DraftMasks* masks) const {
  return FillDraft(stepper_, history_.back(), finished(), draft, masks);
}

absl::Status Matcher::Rollback(int count) {
  if (count < 0 || count > token_count()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "ROLLBACK_OUT_OF_RANGE",
                   absl::StrCat("cannot take back ", count, " of ", token_count(), " tokens"));
  }
  const int after_end = std::min(count, finished_tokens_);
  finished_tokens_ -= after_end;
  history_.Pop(count - after_end);
  return absl::OkStatus();
}

bool Matcher::may_end() const { return !finished() && stepper_.MayEnd(history_.back()); }

absl::StatusOr<Matcher::TextMatch> Matcher::MatchText(absl::string_view text) {
  if (finished()) return TextMatch{0, true};
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  std::size_t taken = 0;
  const TermId state = grammar().automaton().StepText(history_.back(), text, &taken, work);
  if (state == kFailedTerm) return work.error();
  return TextMatch{static_cast<int>(taken), grammar().automaton().MayEnd(state)};
}

absl::StatusOr<std::string> Matcher::ForcedBytes(int max_bytes) {
  std::string forced;
  if (finished()) return forced;
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  Automaton& automaton = grammar().automaton();
  for (TermId state = history_.back();
       static_cast<int>(forced.size()) < max_bytes && !automaton.MayEnd(state);) {
    const Automaton::OnlyByte only = automaton.FindOnlyByte(state, work);
    if (!work.ok()) return work.error();
    if (!only.exists) break;
    forced.push_back(static_cast<char>(only.byte));
    state = only.next;
  }
  return forced;
}

absl::StatusOr<std::string> Matcher::ShortestCompletion(int max_bytes) {
  if (finished()) return std::string();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  return maskd::ShortestCompletion(&grammar().automaton(), history_.back(), max_bytes, work);
}

}  // namespace maskd
