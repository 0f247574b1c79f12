// A token is out where what is behind it needs more characters than are left. Most rows are far
// from their bound, and must not pay for it: of a state is kept by how much any one token can raise
// its smallest completion, found by one walk for all states that look alike to a token. Where that
// much is left, the mask is right as it is.
//
// Invariant  a rise is kept only of a walk that left no token out: it is then the most of all.
// Cost       two look-ups far from the bound; near it one walk over the tokens of the state.
// Bounds     kMaxStates rises and as many completions; then all are forgotten.
#include "grammar_core/matcher/character_masks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/rows/token_steps.h"

namespace maskd {
std::int64_t CharactersOf(const Vocabulary& vocabulary, TokenId token) {
  return vocabulary.IsSpecial(token) ? 0 : CharactersIn(vocabulary.TokenBytes(token));
}

// One look at what every token leads to.
class CharacterMasks::Walk {
 public:
  Walk(CharacterMasks* masks, const TokenStepper& stepper, std::int64_t left, Work* work)
      : masks_(*masks),
        stepper_(stepper),
        row_(stepper.states()),
        left_(left),
        work_(*work),
        fitting_(stepper.vocabulary().size()) {}

  void Run(State state) {
    std::array<std::int64_t, TokenTrie::kMaxDepth + 1> characters;  // by depth
    characters[0] = 0;
    const auto enter = [&](State next, const TrieNode& node) {
      const auto byte = static_cast<unsigned char>(node.byte);
      assert(node.depth >= 1 && node.depth < characters.size());
      characters[node.depth] = characters[node.depth - 1] + (IsContinuationByte(byte) ? 0 : 1);
      const bool may_fit = characters[node.depth] + row_.MinBytes(next) <= left_;
      all_fit_ = all_fit_ && may_fit;
      return may_fit;
    };
    const auto arrive = [&](TokenId id, State next) {
      Judge(id, next);
      return false;
    };
    VisitTokenSteps(stepper_.grammar().tokenizer().index(), row_, state, work_, enter, arrive);
    for (const NamedTokens::Step& step : row_.NamedSteps(state))
      step.tokens.VisitAllowed([&](TokenId id) { Judge(id, RowMemory::Of(step.next)); });
  }

  // Of what was looked at, the tokens that leave enough characters.
  [[nodiscard]] const TokenMask& fitting() const { return fitting_; }
  // Whether they all do; and then what is behind one, with it, has so many at most.
  [[nodiscard]] bool all_fit() const { return all_fit_; }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  void Judge(TokenId id, State next) {
    if (next != last_) {
      last_ = next;
      least_ = masks_.Least(stepper_, next, work_);
    }
    const std::int64_t needed = CharactersOf(stepper_.vocabulary(), id) + least_;
    most_ = std::max(most_, needed);
    if (needed <= left_)
      fitting_.Allow(id);
    else
      all_fit_ = false;
  }

  CharacterMasks& masks_;
  const TokenStepper& stepper_;
  const RowStates& row_;
  const std::int64_t left_;
  Work& work_;
  TokenMask fitting_;
  bool all_fit_ = true;
  std::int64_t most_ = 0;
  State last_ = kUnknownTerm;
  std::int64_t least_ = 0;  // of last_
};

absl::StatusOr<MaskRef> CharacterMasks::Narrow(const TokenStepper& stepper, State state,
                                               const MaskRef& mask, std::int64_t left,
                                               NewMasks new_masks) {
  Budget budget = StepBudget(stepper.grammar().limits());
  Work work(budget);
  const RowStates::Scratch scratch(stepper.states());
  if (IsFar(stepper, state, left, work)) return mask;
  if (new_masks == NewMasks::kRefused) return NotMadeYet();
  assert(mask != nullptr && "a mask that could not be made is no mask to narrow");
  Walk walk(this, stepper, left, &work);
  if (work.ok()) walk.Run(state);
  if (!work.ok()) return work.error();
  // Only a walk that left nothing out has seen the most that a token can add.
  if (walk.all_fit()) {
    if (rise_.size() >= kMaxStates) rise_.clear();
    rise_[stepper.states().KeyOf(state)] = walk.most() - Least(stepper, state, work);
    return mask;
  }
  TokenMask narrowed = *mask;
  mask->VisitAllowed([&](TokenId id) {
    if (!walk.fitting().Allows(id) && !(stepper.IsStop(id) && stepper.MayEnd(state)))
      narrowed.Forbid(id);
  });
  if (narrowed == *mask) return mask;
  if (narrowed.empty()) {
    return ErrorAt(absl::StatusCode::kResourceExhausted, "options.max_characters", "LIMIT_EXCEEDED",
                   absl::StrCat("no token leads to a complete text in the ", left,
                                " characters that are left"));
  }
  return std::make_shared<const TokenMask>(std::move(narrowed));
}

absl::StatusOr<bool> CharacterMasks::Allows(const TokenStepper& stepper, State state, TokenId token,
                                            std::int64_t left) {
  Budget budget = StepBudget(stepper.grammar().limits());
  Work work(budget);
  const RowStates::Scratch scratch(stepper.states());
  if (IsFar(stepper, state, left, work)) return true;
  const TokenStepper::Step step = stepper.Take(state, token, work);
  if (!work.ok()) return work.error();
  if (step.outcome != TokenStepper::Outcome::kMoved) return true;
  const std::int64_t needed =
      CharactersOf(stepper.vocabulary(), token) + Least(stepper, step.next, work);
  if (!work.ok()) return work.error();
  return needed <= left;
}

bool CharacterMasks::IsFar(const TokenStepper& stepper, State state, std::int64_t left,
                           Work& work) {
  const auto rise = rise_.find(stepper.states().KeyOf(state));
  return rise != rise_.end() && Least(stepper, state, work) + rise->second <= left && work.ok();
}

std::int64_t CharacterMasks::Least(const TokenStepper& stepper, State state, Work& work) {
  if (const std::uint64_t serial = stepper.automaton_serial(); serial != automaton_) {
    least_.clear();
    automaton_ = serial;
  }
  if (const auto known = least_.find(state); known != least_.end()) return known->second;
  const auto least =
      SmallestCompletion(stepper.states(), stepper.vocabulary(), state, kNoEnd - 1, work);
  if (!least.ok()) return kNoEnd;
  if (RowStates::IsOwn(state)) return *least;  // another row's may have its number
  if (least_.size() >= kMaxStates) least_.clear();
  return least_[state] = *least;
}

}  // namespace maskd
