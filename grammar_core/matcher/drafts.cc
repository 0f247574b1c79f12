// Positions are made in the order of their tokens, each from the state of the one before it, which
// comes earlier in the list: so a tree needs no stack, and nothing is taken back.
#include "grammar_core/matcher/drafts.h"

#include <cassert>
#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {
namespace {

// Makes the positions one after the other; keeps the grammar's state of each.
class DraftWalk {
 public:
  DraftWalk(const TokenStepper& stepper, Work* work, DraftMasks* masks)
      : stepper_(stepper), masks_(*masks), work_(*work) {}

  absl::Status Run(TokenStepper::State state, bool finished, const Draft& draft) {
    states_.resize(draft.tokens.size() + 1);
    Make(0, state, finished);
    for (std::size_t i = 0; work_.ok() && i < draft.tokens.size(); ++i)
      Take(draft.tokens[i], PositionBefore(draft, i), i + 1);
    return work_.error();
  }

 private:
  // Makes position `at` of the one before it and `token`, unless that is refused.
  void Take(TokenId token, std::size_t before, std::size_t at) {
    assert(before < at && "parents come before their children: CheckDraft() has looked");
    const DraftPosition::State was = masks_.positions[before].state;
    if (was == DraftPosition::State::kInvalid || token == kPadding) return;
    if (was == DraftPosition::State::kFinished) return Make(at, {}, true);
    const TokenStepper::Step step = stepper_.Take(states_[before], token, work_);
    if (step.outcome == TokenStepper::Outcome::kMoved) Make(at, step.next, false);
    if (step.outcome == TokenStepper::Outcome::kEnded) Make(at, {}, true);
  }

  void Make(std::size_t at, TokenStepper::State state, bool finished) {
    DraftPosition& position = masks_.positions[at];
    if (!finished) {
      position.mask = stepper_.Mask(state, work_);
      if (position.mask == nullptr) return;
      position.may_end = stepper_.MayEnd(state);
      states_[at] = state;
      position.place = state;
    }
    position.state = finished ? DraftPosition::State::kFinished : DraftPosition::State::kActive;
    if (at > 0) ++masks_.accepted_tokens;
  }

  static constexpr TokenId kPadding = -1;

  const TokenStepper& stepper_;
  DraftMasks& masks_;
  Work& work_;
  absl::InlinedVector<TokenStepper::State, 16> states_;
};

}  // namespace

absl::Status CheckDraft(const Draft& draft) {
  if (draft.parents.empty()) return absl::OkStatus();
  if (draft.parents.size() != draft.tokens.size()) {
    return ErrorAt(
        absl::StatusCode::kInvalidArgument, "parents", "DRAFT_IS_NO_TREE",
        absl::StrCat(draft.parents.size(), " parents for ", draft.tokens.size(), " tokens"));
  }
  for (std::size_t i = 0; i < draft.parents.size(); ++i) {
    const int parent = draft.parents[i];
    if (parent >= -1 && parent < static_cast<int>(i)) continue;
    return ErrorAt(absl::StatusCode::kInvalidArgument, absl::StrCat("parents[", i, "]"),
                   "DRAFT_IS_NO_TREE",
                   absl::StrCat(parent, " is neither -1 nor the index of a token before it"));
  }
  return absl::OkStatus();
}

absl::Status FillDraft(const TokenStepper& stepper, TokenStepper::State state, bool finished,
                       const Draft& draft, Work& work, DraftMasks* masks) {
  masks->positions.clear();
  masks->accepted_tokens = 0;
  if (absl::Status checked = CheckDraft(draft); !checked.ok()) return checked;
  masks->positions.resize(draft.tokens.size() + 1);
  return DraftWalk(stepper, &work, masks).Run(state, finished, draft);
}

}  // namespace maskd
