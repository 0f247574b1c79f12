#include "grammar_core/matcher/token_stepper.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/rows/masked_automaton.h"

namespace maskd {

Budget StepBudget(const Limits& limits) {
  Budget::Bounds bounds;
  bounds.work = limits.step_work;
  bounds.work_name = "step_work";
  return Budget(bounds);
}

TokenStepper::TokenStepper(std::shared_ptr<const CompiledGrammar> grammar,
                           std::vector<TokenId> stop_ids)
    : grammar_(std::move(grammar)), states_(grammar_->automaton()) {
  if (stop_ids.empty()) return;
  std::sort(stop_ids.begin(), stop_ids.end());
  own_stop_ids_ = std::make_shared<const std::vector<TokenId>>(std::move(stop_ids));
}

TokenStepper TokenStepper::Restarted(std::shared_ptr<MaskedAutomaton> automaton) const {
  TokenStepper stepper(*this);
  stepper.states_ = RowStates(std::move(automaton));
  return stepper;
}

TokenStepper TokenStepper::MovedTo(std::shared_ptr<MaskedAutomaton> automaton,
                                   std::span<State> states) const {
  TokenStepper stepper(*this);
  stepper.states_ = states_.MovedTo(std::move(automaton), states);
  return stepper;
}

TokenStepper::Step TokenStepper::Take(State state, TokenId token, Work& work) const {
  const Vocabulary& words = vocabulary();
  if (token < 0 || token >= words.size()) return {Outcome::kOutOfRange};
  // A stop id ends the text where it may end; elsewhere it is a token like others if the grammar
  // names it, and refused if not.
  const bool is_stop = IsStop(token);
  if (is_stop && MayEnd(state)) return {Outcome::kEnded};
  // The engine would end the text on a stop, so only a grammar that names it may take it.
  if (is_stop && !words.IsSpecial(token)) return {Outcome::kMayNotEnd};
  std::size_t taken = 0;
  const State next = states_.StepToken(state, token, &taken, work);
  if (next == kFailedTerm) return {Outcome::kFailed};
  if (next != kNothingTerm) return {Outcome::kMoved, next, taken};
  if (is_stop) return {Outcome::kMayNotEnd};
  const bool is_text = states_.automaton().tables().IsText(token, vocabulary());
  return {is_text ? Outcome::kRefused : Outcome::kNotText, next, taken};
}

absl::Status TokenStepper::ErrorOf(const Step& step, TokenId token, const Work& work) const {
  if (step.outcome == Outcome::kFailed) return work.error();
  if (step.outcome == Outcome::kOutOfRange) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "TOKEN_OUT_OF_RANGE",
                   absl::StrCat("token ", token, " is not in [0, ", vocabulary().size(), ")"));
  }
  const absl::string_view bytes = vocabulary().TokenBytes(token);
  const std::string why = step.outcome == Outcome::kMayNotEnd ? "the text may not end here"
                          : step.outcome == Outcome::kNotText
                              ? "no such token may stand here"
                              : absl::StrCat("the grammar takes ", step.taken_bytes, " of its ",
                                             bytes.size(), " bytes");
  return ErrorAt(
      absl::StatusCode::kInvalidArgument, "", "TOKEN_REFUSED",
      absl::StrCat("token ", token, " \"", absl::CHexEscape(bytes), "\" is refused: ", why));
}

MaskRef TokenStepper::Mask(State state, Work& work) const {
  MaskRef mask = states_.Mask(state, work);
  // Stored masks have the vocabulary's stop ids. Most rows use those; others get a mask of their
  // own only where it differs.
  if (mask == nullptr || own_stop_ids_ == nullptr) return mask;
  const bool may_end = MayEnd(state);
  return HasOwnStopIds(*mask, may_end) ? mask : WithOwnStopIds(state, *mask, may_end);
}

TokenSearch TokenStepper::search() const {
  TokenSearch search = {&states_, &grammar_->tokenizer().index(), {}};
  search.masks = &grammar_->tokenizer().masks();
  if (own_stop_ids_ != nullptr) search.excluded = *own_stop_ids_;
  return search;
}

bool TokenStepper::MayEnd(State state) const { return states_.MayEnd(state); }

const std::vector<TokenId>& TokenStepper::stop_ids() const {
  return own_stop_ids_ == nullptr ? vocabulary().stop_ids() : *own_stop_ids_;
}

bool TokenStepper::IsStop(TokenId token) const {
  return std::binary_search(stop_ids().begin(), stop_ids().end(), token);
}

// Whether `mask` is right for this stepper's own stop ids, which there must be, as it is.
bool TokenStepper::HasOwnStopIds(const TokenMask& mask, bool may_end) const {
  assert(own_stop_ids_ != nullptr);
  for (const TokenId id : *own_stop_ids_)
    if (mask.Allows(id) != may_end) return false;
  for (const TokenId id : vocabulary().stop_ids())
    if (mask.Allows(id) && !IsStop(id)) return false;
  return true;
}

MaskRef TokenStepper::WithOwnStopIds(State state, TokenMask mask, bool may_end) const {
  for (const TokenId id : vocabulary().stop_ids()) mask.Forbid(id);
  for (const TokenId id : *own_stop_ids_) mask.Forbid(id);
  // Taking the vocabulary's stop ids out may have taken one that the grammar names.
  states_.AddNamedTokens(state, &mask);
  for (const TokenId id : *own_stop_ids_)
    if (may_end)
      mask.Allow(id);
    else if (!vocabulary().IsSpecial(id))
      mask.Forbid(id);  // named or not, see Take()
  return std::make_shared<const TokenMask>(std::move(mask));
}

}  // namespace maskd
