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

// Time for the shortest texts of one walk, and for the search for the fewest tokens; what is not
// looked at then counts as too long.
constexpr std::int64_t kWalkMs = 20;

Budget WalkBudget() {
  Budget::Bounds bounds;
  bounds.wall_ms = kWalkMs;
  bounds.wall_name = "closing_ms";
  return Budget(bounds);
}

}  // namespace

// One look at what every token of a mask leads to.
class ClosingMasks::Walk {
 public:
  Walk(ClosingMasks* closing, const TokenStepper& stepper, int rest)
      : closing_(*closing),
        stepper_(stepper),
        rest_(rest),
        step_budget_(StepBudget(stepper.grammar().limits())),
        search_budget_(WalkBudget()),
        few_budget_(WalkBudget()),
        step_work_(step_budget_),
        few_work_(few_budget_),
        search_work_(search_budget_) {}

  // Takes away what does not fit; true if something is left. What the shortest texts leave room for
  // is enough as a rule; only where that is nothing are the fewest tokens searched for.
  bool Run(State state, TokenMask* mask) {
    const TokenMask whole = *mask;
    if (Keep(state, mask)) return true;
    *mask = whole;
    searching_ = true;
    fits_.clear();
    return Keep(state, mask);
  }

  // Tokens that complete the text after the worst of them.
  [[nodiscard]] int most() const { return most_; }

 private:
  bool Keep(State state, TokenMask* mask) {
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
        search_.automaton->measure() == Measure::kCharacters ? kMostUtf8Bytes : 1;
    const std::int64_t needed = 2 * bytes * search_.automaton->MinBytes(state) + kSpareTokens;
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
  absl::flat_hash_map<State, bool> fits_;
};

MaskRef ClosingMasks::Narrow(const TokenStepper& stepper, TokenStepper::State state,
                             const MaskRef& mask, int tokens_left, bool is_part) {
  if (tokens_left > kFrom) return mask;
  const int rest = tokens_left - 2;
  if (const auto most = most_.find(state); most != most_.end() && most->second <= rest) return mask;
  Walk walk(this, stepper, rest);
  TokenMask narrowed = *mask;
  const bool any = walk.Run(state, &narrowed);
  if (most_.size() >= kMaxStates) most_.clear();
  if (!is_part) most_[state] = walk.most();
  if (!any || narrowed == *mask) return mask;
  return std::make_shared<const TokenMask>(std::move(narrowed));
}

int ClosingMasks::FewTokens(const TokenStepper& stepper, State state, Work& work) {
  if (const auto known = few_.find(state); known != few_.end()) return known->second;
  if (!work.ok()) return kNever;
  const auto tokens = maskd::FewTokens(stepper.search(), state, kMaxBytes, work);
  if (!work.ok()) return kNever;
  if (few_.size() >= kMaxStates) few_.clear();
  return few_[state] = tokens.ok() ? static_cast<int>(tokens->size()) : kNever;
}

}  // namespace maskd
