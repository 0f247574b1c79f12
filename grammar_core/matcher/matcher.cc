#include "grammar_core/matcher/matcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/row_states.h"
#include "grammar_core/automaton/shortest_path.h"
#include "grammar_core/base/error.h"
#include "grammar_core/matcher/text_cuts.h"

namespace maskd {
namespace {

// How far back the pieces of a text are looked at: they depend on what is before them, but seldom
// on more than the last piece.
constexpr int kTokensBefore = 32;

}  // namespace

Matcher::Matcher(std::shared_ptr<const CompiledGrammar> grammar, std::vector<TokenId> stop_ids)
    : stepper_(std::move(grammar), std::move(stop_ids)), history_(stepper_.states().start()) {}

absl::Status Matcher::Accept(TokenId token) {
  if (finished()) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const TokenStepper::Step step = stepper_.Take(history_.state(), token, work);
  if (step.outcome == TokenStepper::Outcome::kMoved) {
    history_.Push(token, step.next);
    return absl::OkStatus();
  }
  if (step.outcome == TokenStepper::Outcome::kEnded) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  return stepper_.ErrorOf(step, token, work);
}

absl::StatusOr<MaskRef> Matcher::Mask(NewMasks new_masks) const {
  if (finished()) return MaskRef();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget, new_masks);
  MaskRef mask = stepper_.Mask(history_.state(), work);
  if (mask == nullptr) return work.error();
  return mask;
}

absl::Status Matcher::MaskDraft(const Draft& draft, DraftMasks* masks, NewMasks new_masks) const {
  return FillDraft(stepper_, history_.state(), finished(), draft, new_masks, masks);
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

bool Matcher::may_end() const { return !finished() && stepper_.MayEnd(history_.state()); }

absl::StatusOr<Matcher::TextMatch> Matcher::MatchText(absl::string_view text) {
  if (finished()) return TextMatch{0, true};
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const RowStates& states = stepper_.states();
  const RowStates::Scratch scratch(states);
  if (states.limits_tokens()) {
    const TextCut cut = CutText(stepper_, history_.state(), text, work);
    if (!work.ok()) return work.error();
    return TextMatch{static_cast<int>(cut.taken_bytes), cut.may_end};
  }
  std::size_t taken = 0;
  const RowStates::State state = states.StepText(history_.state(), text, &taken, work);
  if (state == kFailedTerm) return work.error();
  return TextMatch{static_cast<int>(taken), states.MayEnd(state)};
}

absl::StatusOr<std::string> Matcher::ForcedBytes(int max_bytes) {
  if (finished()) return std::string();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const RowStates::Scratch scratch(stepper_.states());
  absl::StatusOr<maskd::ForcedBytes> forced =
      FindForcedBytes(stepper_, history_.state(), max_bytes, work);
  if (!forced.ok()) return forced.status();
  return std::move(forced->bytes);
}

absl::StatusOr<ForcedTokens> Matcher::FindForcedTokens(int max_bytes) const {
  if (finished()) return ForcedTokens();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const RowStates::Scratch scratch(stepper_.states());
  return maskd::FindForcedTokens(stepper_, history_.state(), history_.LastTokens(kTokensBefore),
                                 max_bytes, work);
}

absl::StatusOr<std::string> Matcher::ShortestCompletion(int max_bytes) {
  if (finished()) return std::string();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  return maskd::ShortestCompletion(stepper_.states(), history_.state(), max_bytes, work);
}

std::uint32_t Matcher::LeastBytes() const {
  return finished() ? 0 : stepper_.states().MinBytes(history_.state());
}

int Matcher::LeastTokens() const {
  return finished() ? 0 : maskd::LeastTokens(stepper_.search(), history_.state());
}

absl::StatusOr<std::vector<TokenId>> Matcher::FewTokens(int max_bytes) const {
  if (finished()) return std::vector<TokenId>();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  return maskd::FewTokens(stepper_.search(), history_.state(), max_bytes, work);
}

absl::StatusOr<std::vector<TokenId>> Matcher::FewestTokens(int max_tokens) const {
  if (finished()) return std::vector<TokenId>();
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  return maskd::FewestTokens(stepper_.search(), history_.state(), max_tokens, work);
}

}  // namespace maskd
