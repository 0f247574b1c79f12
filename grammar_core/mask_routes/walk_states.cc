// A state's number is the begin of its row in one table, so that a step is one addition and one
// read. From kConditions on numbers are those of ConditionStates.
#include "grammar_core/mask_routes/walk_states.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "grammar_core/automaton/automaton_size.h"

namespace maskd {

WalkStates::WalkStates(Automaton* automaton, Work* work)
    : automaton_(automaton),
      work_(work),
      row_size_(std::max(static_cast<std::uint32_t>(automaton->classes().count()), kFailed + 1)),
      most_terms_(static_cast<std::size_t>(kMostTerms * AutomatonSize(*automaton).room())),
      conditions_(automaton, work) {
  for (int byte = 0; byte < 256; ++byte) {
    class_of_[byte] =
        static_cast<std::uint8_t>(automaton->classes().Of(static_cast<unsigned char>(byte)));
  }
}

WalkStates::State WalkStates::Enter(TermId term) {
  if (term == kNothingTerm) return kDead;
  if (term == kFailedTerm) return kFailed;
  // Row 0 is that of kDead and kFailed, which are no states.
  if (terms_.empty()) {
    terms_.push_back(kNothingTerm);
    table_.assign(row_size_, kDead);
  }
  const auto [at, is_new] = states_.try_emplace(term, static_cast<State>(table_.size()));
  if (!is_new) return at->second;
  // Products are smaller than terms but slower to step: only a walk that meets many takes them.
  if (terms_.size() > most_terms_) {
    if (const std::optional<std::uint32_t> index = conditions_.Enter(term); index.has_value())
      return at->second = kConditions + *index;
  }
  terms_.push_back(term);
  table_.resize(table_.size() + row_size_, kUnknown);
  return at->second;
}

WalkStates::State WalkStates::MakeStep(State state, unsigned char byte) {
  assert(state > kFailed && state / row_size_ < terms_.size() && "the begin of a row of the table");
  const TermId term = terms_[state / row_size_];
  lowest_floor_ = std::min(lowest_floor_, automaton_->store().term(term).floor);
  const State next = Enter(automaton_->Step(term, byte, *work_));
  // A step that failed is not kept: with more budget it may be made.
  if (next != kFailed) table_[state + class_of_[byte]] = next;
  return next;
}

WalkStates::State WalkStates::StepConditions(State state, unsigned char byte) {
  const std::uint32_t index = state - kConditions;
  lowest_floor_ = std::min(lowest_floor_, conditions_.floor(index));
  const ConditionStates::Next next = conditions_.Step(index, byte);
  // What failed is no answer: neither state nor dead end.
  if (!work_->ok()) return kFailed;
  return next.within.has_value() ? kConditions + *next.within : Enter(next.behind);
}

}  // namespace maskd
