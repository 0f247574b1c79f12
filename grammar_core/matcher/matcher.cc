// A matcher is a history of states and the stepper that knows what tokens do in them. Every call
// that looks at the automaton goes through Run(): it moves first where the automaton is full, and
// once more where the call itself needs more than is left.
//
// Invariant  all states of the history are of the stepper's automaton, but those below
//            first_state_, which are void; forks share the stepper and never change it.
// Cost       a call adds one budget and one test to what it calls.
#include "grammar_core/matcher/matcher.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/matcher/text_bounds.h"
#include "grammar_core/matcher/text_cuts.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/generations.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {
namespace {

// How far back the pieces of a text are looked at: they depend on what is before them, but seldom
// on more than the last piece.
constexpr int kTokensBefore = 32;

}  // namespace

Matcher::Matcher(std::shared_ptr<const CompiledGrammar> grammar, std::vector<TokenId> stop_ids)
    : Matcher(std::make_shared<const TokenStepper>(std::move(grammar), std::move(stop_ids))) {}

Matcher::Matcher(std::shared_ptr<const TokenStepper> stepper)
    : history_(stepper->states().start().value()), stepper_(std::move(stepper)) {}

const CompiledGrammar& Matcher::grammar() const { return stepper_->grammar(); }
bool Matcher::names_tokens() const { return stepper_->states().names_tokens(); }

std::int64_t Matcher::LiveBytes() { return TokenHistory::LiveBytes() + RowMemory::LiveBytes(); }

std::int64_t Matcher::StepperBytes() {
  constexpr std::int64_t kOwners = 16;  // their count, in front of it
  return static_cast<std::int64_t>(sizeof(TokenStepper)) + kOwners;
}

void Matcher::MoveTo(std::shared_ptr<MaskedAutomaton> automaton) const {
  assert(automaton != nullptr && automaton != stepper_->states().shared_automaton());
  std::vector<TokenHistory::State> numbers = history_.TopStates();
  std::vector<RowStateId> states;
  for (const TokenHistory::State number : numbers) states.emplace_back(number);
  stepper_ = std::make_shared<const TokenStepper>(stepper_->MovedTo(std::move(automaton), states));
  std::ranges::transform(states, numbers.begin(), &RowStateId::value);
  history_.PutTopStates(numbers);
}

void Matcher::Rest() const {
  if (stepper_->states().automaton().full()) MoveTo(grammar().automaton());
}

template <typename Call>
absl::Status Matcher::Run(NewMasks new_masks, Call call) const {
  Rest();
  for (bool again = false;; again = true) {
    Budget budget = StepBudget(grammar().limits());
    Work work(budget, new_masks);
    absl::Status status = call(work);
    if (status.ok() || again || !IsAutomatonFull(status)) return status;
    // Not the shared one: that may be filled by others before this call is done.
    MoveTo(grammar().generations().MakeApart());
  }
}

template <typename Result, typename Call>
absl::StatusOr<Result> Matcher::Get(Call call) const {
  absl::StatusOr<Result> result;
  (void)Run([&](Work& work) {
    result = call(work);
    return result.status();
  });
  return result;
}

absl::Status Matcher::Accept(TokenId token) {
  if (finished()) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  return Run([&](Work& work) {
    const TokenStepper::Step step = stepper_->Take(place(), token, work);
    if (step.outcome == TokenStepper::Outcome::kMoved) {
      assert(step.next != kNothingTerm && step.next != kFailedTerm && "moved nowhere");
      history_.Push(token, step.next.value());
    } else if (step.outcome == TokenStepper::Outcome::kEnded) {
      ++finished_tokens_;
    } else {
      return stepper_->ErrorOf(step, token, work);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<MaskRef> Matcher::Mask(NewMasks new_masks) const {
  if (finished()) return MaskRef();
  MaskRef mask;
  absl::Status made = Run(new_masks, [&](Work& work) {
    mask = stepper_->Mask(place(), work);
    return work.error();
  });
  if (!made.ok()) return made;
  return mask;
}

absl::Status Matcher::MaskDraft(const Draft& draft, DraftMasks* masks, NewMasks new_masks) const {
  return Run(new_masks, [&](Work& work) {
    return FillDraft(*stepper_, place(), finished(), draft, work, masks);
  });
}

absl::Status Matcher::Rollback(int count) {
  if (count < 0 || count > token_count()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "ROLLBACK_OUT_OF_RANGE",
                   absl::StrCat("cannot take back ", count, " of ", token_count(), " tokens"));
  }
  const int after_end = std::min(count, finished_tokens_);
  const int of_text = count - after_end;
  if (history_.HasStateAfterPop(of_text))
    history_.Pop(of_text);
  else if (absl::Status taken = TakeAgain(history_.size() - of_text); !taken.ok())
    return taken;
  finished_tokens_ -= after_end;
  assert(finished_tokens_ >= 0);
  return absl::OkStatus();
}

absl::Status Matcher::TakeAgain(int count) {
  std::vector<TokenId> tokens = history_.LastTokens(history_.size());
  tokens.resize(static_cast<std::size_t>(count));
  // On a copy, so that a token that fails now leaves the matcher as it was.
  Matcher again(*this);
  again.finished_tokens_ = 0;
  again.stepper_ = std::make_shared<const TokenStepper>(stepper_->Restarted(grammar().automaton()));
  again.history_ = TokenHistory(again.stepper_->states().start().value());
  for (const TokenId token : tokens)
    if (absl::Status taken = again.Accept(token); !taken.ok()) return taken;
  stepper_ = std::move(again.stepper_);
  history_ = std::move(again.history_);
  return absl::OkStatus();
}

const std::vector<TokenId>& Matcher::stop_ids() const { return stepper_->stop_ids(); }

bool Matcher::may_end() const { return !finished() && stepper_->MayEnd(place()); }

absl::StatusOr<Matcher::TextMatch> Matcher::MatchText(absl::string_view text) {
  if (finished()) return TextMatch{0, true};
  TextMatch match{};
  absl::Status matched = Run([&](Work& work) {
    // What is tried of a text is given back: the matcher stays where it was.
    const RowStates& states = stepper_->states();
    const RowStates::Scratch scratch(states);
    if (states.limits_tokens() || states.names_tokens()) {
      const TextCut cut = CutText(*stepper_, place(), text, work);
      match = {static_cast<int>(cut.taken_bytes), cut.may_end};
      return work.error();
    }
    std::size_t taken = 0;
    const RowStates::State state = states.StepText(place(), text, &taken, work);
    if (state != kFailedTerm) match = {static_cast<int>(taken), states.MayEnd(state)};
    return work.error();
  });
  if (!matched.ok()) return matched;
  return match;
}

absl::StatusOr<Matcher::TextMatch> Matcher::MatchWithinCharacters(absl::string_view text,
                                                                  int max_characters) const {
  Budget budget = StepBudget(grammar().limits());
  Work work(budget);
  const auto within = PrefixWithin(*stepper_, place(), text, max_characters, work);
  if (!within.ok()) return within.status();
  return TextMatch{static_cast<int>(within->bytes), within->may_end};
}

std::size_t Matcher::BytesOfTokens(absl::string_view text, int max_tokens) const {
  return PrefixOfTokens(grammar().tokenizer().index(), text, max_tokens);
}

std::optional<PrefetchPlace::Key> Matcher::PrefetchKey(RowStateId place) const {
  if (RowStates::IsOwn(place)) return std::nullopt;  // of what a row has written only it knows
  return PrefetchPlace::Key(stepper_->automaton_serial(), place);
}

PrefetchPlace Matcher::PrefetchAt(RowStateId place) const {
  assert(!RowStates::IsOwn(place) && "a row's own place is no one else's to look behind");
  return {stepper_->shared_grammar(), stepper_->states().shared_automaton(),
          stepper_->automaton_serial(), place};
}

absl::StatusOr<std::string> Matcher::ForcedBytes(int max_bytes) {
  if (finished()) return std::string();
  return Get<std::string>([&](Work& work) -> absl::StatusOr<std::string> {
    const RowStates::Scratch scratch(stepper_->states());
    absl::StatusOr<maskd::ForcedBytes> forced =
        FindForcedBytes(*stepper_, place(), max_bytes, work);
    if (!forced.ok()) return forced.status();
    return std::move(forced->bytes);
  });
}

absl::StatusOr<ForcedTokens> Matcher::FindForcedTokens(int max_bytes) const {
  if (finished()) return ForcedTokens();
  return Get<ForcedTokens>([&](Work& work) {
    const RowStates::Scratch scratch(stepper_->states());
    return maskd::FindForcedTokens(*stepper_, place(), history_.LastTokens(kTokensBefore),
                                   max_bytes, work);
  });
}

absl::StatusOr<std::string> Matcher::ShortestCompletion(int max_bytes) {
  if (finished()) return std::string();
  return Get<std::string>([&](Work& work) {
    return maskd::ShortestCompletion(stepper_->states(), place(), max_bytes, work);
  });
}

std::uint32_t Matcher::LeastBytes() const {
  return finished() ? 0 : stepper_->states().MinBytes(place());
}

int Matcher::LeastTokens() const {
  return finished() ? 0 : maskd::LeastTokens(stepper_->search(), place());
}

absl::StatusOr<std::vector<TokenId>> Matcher::FewTokens(int max_bytes) const {
  if (finished()) return std::vector<TokenId>();
  return Get<std::vector<TokenId>>(
      [&](Work& work) { return maskd::FewTokens(stepper_->search(), place(), max_bytes, work); });
}

absl::StatusOr<std::vector<TokenId>> Matcher::FewestTokens(int max_tokens) const {
  if (finished()) return std::vector<TokenId>();
  return Get<std::vector<TokenId>>([&](Work& work) {
    return maskd::FewestTokens(stepper_->search(), place(), max_tokens, work);
  });
}

}  // namespace maskd
