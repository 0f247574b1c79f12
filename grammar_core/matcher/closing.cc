#include "grammar_core/matcher/closing.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "grammar_core/automaton/fewest_tokens.h"

namespace maskd {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

// Bytes of a completion that is looked at: longer ones have more tokens than are ever left here.
constexpr int kMaxBytes = 4096;

}  // namespace

// One look at what every token of a mask leads to.
class ClosingMasks::Walk {
 public:
  Walk(ClosingMasks* closing, const TokenStepper& stepper, int rest)
      : closing_(*closing),
        stepper_(stepper),
        rest_(rest),
        step_budget_(StepBudget(stepper.grammar().limits())),
        search_budget_(StepBudget(stepper.grammar().limits())),
        step_work_(step_budget_),
        search_work_(search_budget_) {}

  // Takes away what does not fit; true if something is left.
  bool Run(State state, TokenMask* mask) {
    bool any = false;
    std::vector<TokenId> refused;
    mask->VisitAllowed([&](TokenId id) {
      if (Allows(state, id)) {
        any = true;
      } else {
        refused.push_back(id);
      }
    });
    for (const TokenId id : refused) mask->Forbid(id);
    return any;
  }

  // Tokens that complete the text after the worst of them.
  [[nodiscard]] int most() const { return most_; }

 private:
  bool Allows(State state, TokenId id) {
    const TokenStepper::Step step = stepper_.Take(state, id, step_work_);
    if (step.outcome == TokenStepper::Outcome::kEnded) return true;
    if (step.outcome != TokenStepper::Outcome::kMoved) {
      most_ = kNever;  // the budget's end: nothing is known of the tokens after it
      return false;
    }
    const auto [known, added] = fits_.try_emplace(step.next, false);
    if (added) known->second = Fits(step.next);
    return known->second;
  }

  bool Fits(State state) {
    const int few = closing_.FewTokens(stepper_, state);
    most_ = std::max(most_, few);
    if (few <= rest_) return true;
    const TokenSearch search = stepper_.search();
    if (rest_ < 0 || LeastTokens(search, state) > rest_ || !search_work_.ok()) return false;
    return FewestTokens(search, state, rest_, search_work_).ok();
  }

  ClosingMasks& closing_;
  const TokenStepper& stepper_;
  const int rest_;  // tokens after the one that is looked at, before the end
  Budget step_budget_;
  Budget search_budget_;
  Work step_work_;
  Work search_work_;
  int most_ = 0;
  absl::flat_hash_map<State, bool> fits_;
};

MaskRef ClosingMasks::Narrow(const TokenStepper& stepper, TokenStepper::State state,
                             const MaskRef& mask, int tokens_left) {
  if (tokens_left > kFrom) return mask;
  const int rest = tokens_left - 2;
  if (const auto most = most_.find(state); most != most_.end() && most->second <= rest) return mask;
  Walk walk(this, stepper, rest);
  TokenMask narrowed = *mask;
  const bool any = walk.Run(state, &narrowed);
  if (most_.size() >= kMaxStates) most_.clear();
  most_[state] = walk.most();
  if (!any || narrowed == *mask) return mask;
  return std::make_shared<const TokenMask>(std::move(narrowed));
}

int ClosingMasks::FewTokens(const TokenStepper& stepper, State state) {
  if (const auto known = few_.find(state); known != few_.end()) return known->second;
  Budget budget = StepBudget(stepper.grammar().limits());
  Work work(budget);
  const auto tokens = maskd::FewTokens(stepper.search(), state, kMaxBytes, work);
  if (few_.size() >= kMaxStates) few_.clear();
  return few_[state] = tokens.ok() ? static_cast<int>(tokens->size()) : kNever;
}

}  // namespace maskd
