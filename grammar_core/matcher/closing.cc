// What is narrowed is looked for from cheap to dear. Far enough from the end nothing is done;
// numbers and strings tell it by their form. Where a lower bound says that no text fits, the mask
// stays. Else the levels of the state say which tokens fit. Where none does, the known ending goes
// on, or one of other bytes, and last a search is made.
//
// Invariant  the result is never empty and never more than the mask that came in: a row whose
//            budget cannot be kept is not stuck, it goes on without it.
#include "grammar_core/matcher/closing.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/completion/late_states.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/matcher/closing_levels.h"
#include "grammar_core/matcher/closing_own.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/far_strings.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {
namespace {

// Work for the levels of a state, and where they leave nothing for other repairs of its ending and
// for the search: a few milliseconds. Not a time: a row's masks are the same wherever it is
// replayed.
constexpr std::int64_t kLevelsWork = 20'000;
// To look whether all is known: some 20 us.
constexpr std::int64_t kLookWork = 200;
constexpr std::int64_t kSearchWork = 3'000;
constexpr std::int64_t kRepairWork = 6'000;
// The same for the text of the fewest bytes, whose units are small: a millisecond or two.
constexpr std::int64_t kTextWork = 32'000;
// More tokens are not searched from one by one.
constexpr int kMaxSearched = 512;

Budget ClosingBudget(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

// An ending of at most `most` tokens, where items must differ; empty where none is found.
std::vector<TokenId> OtherEnding(const TokenStepper& stepper, TokenStepper::State state,
                                 Endings* endings, int most) {
  Budget budget = ClosingBudget(kRepairWork);
  Work work(budget);
  return endings->TokensWithin(stepper, state, most, work);
}

// Of the text of the fewest bytes, as few as spell it; empty where the search is too dear.
std::vector<TokenId> TokensOfShortest(const TokenSearch& search, TokenStepper::State state) {
  Budget budget = ClosingBudget(kTextWork);
  Work work(budget);
  return FewTokens(search, state, ShortestTexts::kMaxBytes, work).value_or(std::vector<TokenId>());
}

void KeepStops(const TokenStepper& stepper, TokenStepper::State state, const TokenMask& mask,
               TokenMask* fitting) {
  if (!stepper.MayEnd(state)) return;
  for (const TokenId id : stepper.stop_ids())
    if (mask.Allows(id)) fitting->Allow(id);
}

// A mask that is not stored is made for the call, and so is what is left of it.
MaskRef Stored(const TokenStepper& stepper, const MaskRef& mask, TokenMask narrowed) {
  if (mask->serial() == 0) return std::make_shared<const TokenMask>(std::move(narrowed));
  return stepper.grammar().tokenizer().masks().Intern(std::move(narrowed), {&mask, 1});
}

}  // namespace

ClosingMasks::ClosingMasks()
    : endings_(std::make_unique<Endings>()),
      levels_(std::make_unique<ClosingLevels>()),
      far_strings_(std::make_unique<FarStrings>()),
      late_(std::make_unique<LateStates>()) {}

ClosingMasks::~ClosingMasks() = default;

std::int64_t ClosingMasks::held_bytes() const {
  constexpr std::int64_t kBytesAKnown = 64;
  return endings_->held_bytes() + levels_->held_bytes() + far_strings_->held_bytes() +
         late_->held_bytes() + static_cast<std::int64_t>(known_.size()) * kBytesAKnown;
}

TokenSearch ClosingMasks::SearchOf(const TokenStepper& stepper) const {
  TokenSearch search = stepper.search();
  search.late = late_.get();
  return search;
}

MaskRef ClosingMasks::Narrow(const TokenStepper& stepper, State state, const MaskRef& mask,
                             int tokens_left, NewMasks new_masks) {
  ++asked_;
  if (tokens_left > kFrom) return mask;
  const RowStates& states = stepper.states();
  const RowStates::Scratch scratch(states);
  assert(mask != nullptr && "a position without a mask is not narrowed");
  const int rest = tokens_left - 2;  // behind this token, and without the stop id
  late_->ForgetOthers(stepper.automaton_serial());
  if (LeastTokens(SearchOf(stepper), state) > rest + 1) return mask;  // whatever is searched
  const bool may_make = new_masks != NewMasks::kRefused;
  Budget budget = ClosingBudget(may_make ? kLevelsWork : kLookWork);
  Work work(budget, may_make ? NewMasks::kMade : NewMasks::kRefused);
  if (levels_->IsFarNumber(stepper, state, rest, endings_.get(), work)) return mask;
  if (far_strings_->IsFar(stepper, state, rest, endings_.get(), work)) return mask;
  // The mask that came in may be less.
  const MaskRef own = states.Mask(RowMemory::Of(states.Shared(state)), work);
  const auto levels = levels_->Of(stepper, states.Shared(state), own.get(), endings_.get(), work);
  if (!work.ok()) {
    if (!may_make) return nullptr;
    TokenMask found = Searched(stepper, state, TokenMask(*mask), rest);
    return found.empty() ? mask : Stored(stepper, mask, std::move(found));
  }
  if (RowStates::IsOwn(state)) return NarrowOwn(stepper, state, mask, *levels, rest, new_masks);
  if (levels->most() <= rest) return mask;
  return NarrowShared(stepper, state, mask, *levels, rest, new_masks);
}

MaskRef ClosingMasks::NarrowShared(const TokenStepper& stepper, State state, const MaskRef& mask,
                                   const ClosingLevelList& list, int rest, NewMasks new_masks) {
  const auto fits = [&](const ClosingLevel& level) { return level.few <= rest; };
  const auto levels = static_cast<std::size_t>(std::ranges::partition_point(list.levels, fits) -
                                               list.levels.begin());
  // A mask made for one call has no number to be kept under.
  const bool may_make = new_masks != NewMasks::kRefused;
  if (mask->serial() == 0)
    return may_make ? MakeShared(stepper, state, mask, list, levels, rest) : nullptr;
  const Cut cut = levels > 0
                      ? Cut{mask->serial(), list.number, levels, kNothingTerm}
                      : Cut{mask->serial(), list.number, static_cast<std::size_t>(rest + 1), state};
  if (const auto known = known_.find(cut); known != known_.end()) {
    if (MaskRef narrowed = known->second.lock(); narrowed != nullptr) return narrowed;
  }
  if (!may_make) return nullptr;
  MaskRef narrowed = MakeShared(stepper, state, mask, list, levels, rest);
  assert(narrowed != nullptr);
  if (known_.size() >= kMaxKnown) known_.clear();
  known_[cut] = narrowed;
  return narrowed;
}

MaskRef ClosingMasks::MakeShared(const TokenStepper& stepper, State state, const MaskRef& mask,
                                 const ClosingLevelList& list, std::size_t fitting_levels,
                                 int rest) {
  const TokenMask plain = *mask;
  TokenMask fitting(plain.vocab_size());
  if (fitting_levels > 0) {
    fitting = plain;
    for (std::size_t i = fitting_levels; i < list.levels.size(); ++i)
      list.levels[i].TakeFrom(&fitting);
  }
  KeepStops(stepper, state, plain, &fitting);
  if (fitting.empty()) fitting = Searched(stepper, state, plain, rest);
  if (fitting.empty() || fitting == plain) return mask;
  return Stored(stepper, mask, std::move(fitting));
}

MaskRef ClosingMasks::NarrowOwn(const TokenStepper& stepper, State state, const MaskRef& mask,
                                const ClosingLevelList& list, int rest, NewMasks new_masks) {
  if (IsFarFromEnd(list.most(), rest, endings_->LongestPart(stepper))) return mask;
  if (new_masks == NewMasks::kRefused) return nullptr;  // no two rows share what is left
  const TokenMask plain = *mask;
  TokenMask fitting = OwnClosing(&stepper, endings_.get(), state, plain, rest).Fitting(list);
  KeepStops(stepper, state, plain, &fitting);
  if (fitting.empty()) fitting = Searched(stepper, state, plain, rest);
  if (fitting.empty() || fitting == plain) return mask;
  return Stored(stepper, mask, std::move(fitting));
}

// First the known ending. Where that does not fit, it is repaired in another way; then comes the
// text of the fewest bytes. Last the fewest tokens of all are searched for, and where few tokens
// may be taken, behind each of them.
TokenMask ClosingMasks::Searched(const TokenStepper& stepper, State state, const TokenMask& mask,
                                 int rest) {
  TokenMask found(mask.vocab_size());
  KeepStops(stepper, state, mask, &found);
  // Not even one more token: only the end itself could fit.
  if (rest < 0) return found;
  const auto begins = [&](const std::vector<TokenId>& ending) {
    const bool fits = !ending.empty() && static_cast<int>(ending.size()) <= rest + 1;
    if (!fits || !mask.Allows(ending.front())) return false;
    found.Allow(ending.front());
    return true;
  };
  const TokenSearch search = SearchOf(stepper);
  if (begins(endings_->Tokens(stepper, state)) ||
      begins(OtherEnding(stepper, state, endings_.get(), rest + 1)) ||
      begins(TokensOfShortest(search, state)))
    return found;
  Budget budget = ClosingBudget(kSearchWork);
  Work work(budget);
  const auto tokens = FewestTokens(search, state, rest + 1, work);
  if (!tokens.ok() || tokens->empty()) return found;
  begins(*tokens);
  if (mask.CountAllowed() > kMaxSearched) return found;
  mask.VisitAllowed([&](TokenId id) {
    if (!work.ok()) return;
    const TokenStepper::Step step = stepper.Take(state, id, work);
    if (step.outcome != TokenStepper::Outcome::kMoved) return;
    if (FewestTokens(search, step.next, rest, work).ok()) found.Allow(id);
  });
  return found;
}

}  // namespace maskd
