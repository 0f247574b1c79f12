#include "grammar_core/matcher/closing.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/fewest_tokens.h"

namespace maskd {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

// Bytes of a completion that is looked at: longer ones have more tokens than are ever left here.
constexpr int kMaxBytes = 4096;

// Work for the shortest texts behind one state, and as much for the search for the fewest tokens,
// some 20 ms; what is not looked at then counts as too long. Not a time: a row's masks are the same
// wherever it is replayed.
constexpr std::int64_t kWalkWork = 100'000;

Budget WalkBudget() {
  Budget::Bounds bounds;
  bounds.work = kWalkWork;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

}  // namespace

// One look at what the tokens of a mask lead to.
class ClosingMasks::Look {
 public:
  Look(ClosingMasks* closing, const TokenStepper& stepper, int rest)
      : closing_(*closing),
        stepper_(stepper),
        rest_(rest),
        step_budget_(StepBudget(stepper.grammar().limits())),
        search_budget_(WalkBudget()),
        few_budget_(WalkBudget()),
        step_work_(step_budget_),
        few_work_(few_budget_),
        search_work_(search_budget_) {}

  // `mask`, of `state`, less what does not fit. What the shortest texts leave room for is enough as
  // a rule; only where that is nothing are the fewest tokens searched for.
  TokenMask Fitting(State state, const TokenMask& mask) {
    const auto groups = closing_.groups_.Of(stepper_, state, step_work_);
    if (!step_work_.ok()) most_ = kNever;
    TokenMask fitting = Fitting(*groups, state, mask);
    if (!fitting.empty()) return fitting;
    searching_ = true;
    return Fitting(*groups, state, mask);
  }

  // Tokens that complete the text after the worst of them.
  [[nodiscard]] int most() const { return most_; }

 private:
  // Most tokens of a mask may be one group: it is kept, or left out, as a whole.
  TokenMask Fitting(const StepGroupList& groups, State state, const TokenMask& mask) {
    std::vector<const StepGroup*> kept;
    std::vector<const StepGroup*> refused;
    for (const StepGroup& group : groups) {
      (Fits(group.next) ? kept : refused).push_back(&group);
    }
    if (refused.empty()) return mask;
    const auto is_large = [](const StepGroup* group) { return group->mask.has_value(); };
    TokenMask fitting(mask.vocab_size());
    if (std::ranges::any_of(kept, is_large)) {
      fitting = mask;
      for (const StepGroup* group : refused) {
        group->Visit([&](TokenId id) { fitting.Forbid(id); });
      }
    }
    const auto keep = [&](TokenId id) {
      if (mask.Allows(id)) fitting.Allow(id);
    };
    for (const StepGroup* group : kept) {
      if (!is_large(group) || stepper_.states().names_tokens()) group->Visit(keep);
    }
    if (stepper_.MayEnd(state)) std::ranges::for_each(stepper_.stop_ids(), keep);
    return fitting;
  }

  bool Fits(State state) {
    if (rest_ < 0 || LeastTokens(search_, state) > rest_) {
      most_ = kNever;
      return false;
    }
    if (HasRoom(state)) return true;
    const int few = closing_.FewTokens(stepper_, state, few_work_);
    most_ = std::max(most_, few);
    if (few <= rest_) return true;
    if (!searching_ || !search_work_.ok()) return false;
    return FewestTokens(search_, state, rest_, search_work_).ok();
  }

  // Whether so much room is left that the shortest text need not be looked at: the bytes known to
  // be needed are a lower bound, and a token takes one at least.
  bool HasRoom(State state) {
    const std::int64_t bytes =
        search_.states->measure() == Measure::kCharacters ? kMostUtf8Bytes : 1;
    const std::int64_t needed = 2 * bytes * search_.states->MinBytes(state) + kSpareTokens;
    if (needed > rest_) return false;
    most_ = std::max(most_, static_cast<int>(needed));
    return true;
  }

  static constexpr int kSpareTokens = 32;
  static constexpr int kMostUtf8Bytes = 4;  // of a character

  ClosingMasks& closing_;
  const TokenStepper& stepper_;
  const TokenSearch search_ = stepper_.search();
  const int rest_;  // tokens after the one that is looked at, before the end
  Budget step_budget_;
  Budget search_budget_;
  Budget few_budget_;
  Work step_work_;
  Work few_work_;
  Work search_work_;
  bool searching_ = false;
  int most_ = 0;
};

MaskRef ClosingMasks::Narrow(const TokenStepper& stepper, TokenStepper::State state,
                             const MaskRef& mask, int tokens_left, bool is_part) {
  if (tokens_left > kFrom) return mask;
  SetAutomaton(stepper);
  const RowStates::Scratch scratch(stepper.states());
  const int rest = tokens_left - 2;
  if (const auto most = most_.find(state); most != most_.end() && most->second <= rest) return mask;
  Look look(this, stepper, rest);
  const TokenMask plain = *mask;  // asked for many tokens
  TokenMask fitting = look.Fitting(state, plain);
  if (most_.size() >= kMaxStates) most_.clear();
  if (!is_part && !RowStates::IsOwn(state)) most_[state] = look.most();
  if (fitting.empty() || fitting == plain) return mask;
  return std::make_shared<const TokenMask>(std::move(fitting));
}

void ClosingMasks::SetAutomaton(const TokenStepper& stepper) {
  if (automaton_ == stepper.automaton_serial()) return;
  automaton_ = stepper.automaton_serial();
  few_.clear();
  most_.clear();
}

int ClosingMasks::FewTokens(const TokenStepper& stepper, State state, Work& work) {
  if (const auto known = few_.find(state); known != few_.end()) return known->second;
  if (!work.ok()) return kNever;
  const auto tokens = maskd::FewTokens(stepper.search(), state, kMaxBytes, work);
  if (!work.ok()) return kNever;
  const int few = tokens.ok() ? static_cast<int>(tokens->size()) : kNever;
  if (RowStates::IsOwn(state)) return few;  // another row's may have its number
  if (few_.size() >= kMaxStates) few_.clear();
  return few_[state] = few;
}

}  // namespace maskd
