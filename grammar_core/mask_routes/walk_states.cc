// A state's number is the begin of its row in one table, so that a step is one addition and one
// read. From kConditions on numbers are those of ConditionStates.
//
// Invariant  a transition in the table is that of the automaton; kDead may stand there from the
//            start, where the form of the cell refuses the byte.
// Cost       a known step a read; a new one a step of the automaton and a look into a hash table.
#include "grammar_core/mask_routes/walk_states.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <ranges>
#include <span>

#include "grammar_core/automaton/automaton_size.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

WalkStates::WalkStates(Automaton* automaton, Work* work)
    : automaton_(automaton),
      work_(work),
      row_size_(std::max(static_cast<std::uint32_t>(automaton->classes().count()), kFailed + 1)),
      most_terms_(static_cast<std::size_t>(kMostTerms * AutomatonSize(*automaton).room())),
      classes_(&automaton->classes()),
      tails_{{kEmptyTerm, kNoTail, 0}},
      conditions_(automaton, work) {}

WalkStates::State WalkStates::Enter(TermId term) {
  const State state = EnterBefore(term, kNoTail);
  if (state > kFailed) Narrow(state);
  return state;
}

void WalkStates::Narrow(State state) {
  if (state >= kConditions) return;
  const std::size_t row = state / row_size_;
  if (row >= is_narrow_.size()) is_narrow_.resize(row + 1);
  if (is_narrow_[row]) return;
  is_narrow_[row] = true;
  RuleOut(state);
}

// Most bytes are told to lead nowhere by the form of the first cells. Where a string of any
// characters comes first, that form tells little.
void WalkStates::RuleOut(State state) {
  FirstClasses::Set may;
  Place place = places_[state / row_size_];
  for (;;) {
    if (TakesMostCharacters(place.cell)) return;
    may |= automaton_->FirstOf(place.cell, *work_);
    if (!work_->ok()) return;
    if (place.tail == kNoTail || !automaton_->store().term(place.cell).nullable) break;
    place = FirstOf(place.tail);
  }
  LowerFloor(place);
  for (int c = 0; c < classes_->count(); ++c)
    if (!may[static_cast<std::size_t>(c)]) table_[state + static_cast<std::uint32_t>(c)] = kDead;
}

bool WalkStates::TakesMostCharacters(TermId cell_id) const {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(cell_id);
  if (!IsBetweenCharacters(cell)) return false;
  const TermKind text = store.term(AsEncode(cell).characters).kind;
  return text != TermKind::kText && text != TermKind::kTextSet && text != TermKind::kNameSet;
}

void WalkStates::LowerFloor(const Place& last) {
  const std::uint32_t floor =
      last.tail == kNoTail ? automaton_->store().term(last.cell).floor() : tails_[last.tail].floor;
  lowest_floor_ = std::min(lowest_floor_, floor);
}

WalkStates::State WalkStates::Enter(TermId head, TermId tail) {
  return EnterBefore(head, TailOf(tail, kNoTail));
}

// Tails are numbered from the far end on, as each names the next one. No term is made of two
// spines: names are passed by the hundred, and what follows most of them is never read.
WalkStates::State WalkStates::Enter(std::span<const TermId> spines, TermId tail) {
  assert(!spines.empty() && "a name has something behind it");
  TailId behind = TailOf(tail, kNoTail);
  for (const TermId spine : spines.subspan(1) | std::views::reverse) behind = TailOf(spine, behind);
  return EnterBefore(spines.front(), behind);
}

WalkStates::TailId WalkStates::TailOf(TermId spine, TailId next) {
  if (spine == kEmptyTerm) return next;
  const auto [at, is_new] =
      tail_ids_.try_emplace({spine, next}, static_cast<TailId>(tails_.size()));
  if (is_new) {
    const std::uint32_t floor =
        next == kNoTail ? automaton_->store().term(spine).cells() : tails_[next].floor;
    tails_.push_back({spine, next, floor});
  }
  return at->second;
}

WalkStates::Place WalkStates::FirstOf(TailId tail) {
  const auto [spine, next, floor] = tails_[tail];
  const TermStore::Parts parts = automaton_->store().PartsOf(spine);
  return {parts.cell, TailOf(parts.tail, next)};
}

WalkStates::State WalkStates::EnterBefore(TermId head, TailId tail) {
  if (head == kNothingTerm) return kDead;
  if (head == kFailedTerm) return kFailed;
  if (head == kEmptyTerm && tail != kNoTail) return EnterPlace(FirstOf(tail));
  const TermStore::Parts parts = automaton_->store().PartsOf(head);
  return EnterPlace({parts.cell, TailOf(parts.tail, tail)});
}

WalkStates::State WalkStates::EnterPlace(const Place& place) {
  // Row 0 is that of kDead and kFailed, which are no states.
  if (places_.empty()) {
    places_.push_back({kNothingTerm, kNoTail});
    table_.assign(row_size_, kDead);
  }
  const auto [at, is_new] = states_.try_emplace(place, static_cast<State>(table_.size()));
  if (!is_new) return at->second;
  // Products are smaller than terms but slower to step: only a walk that meets many takes them.
  if (places_.size() > most_terms_) {
    if (const std::optional<std::uint32_t> index = EnterConditions(place); index.has_value())
      return at->second = kConditions + *index;
  }
  places_.push_back(place);
  table_.resize(table_.size() + row_size_, kUnknown);
  return at->second;
}

std::optional<std::uint32_t> WalkStates::EnterConditions(const Place& place) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(place.cell);
  const bool may_be_one = cell.kind == TermKind::kEncode && !IsOfNames(cell) &&
                          store.term(AsEncode(cell).characters).kind == TermKind::kAnd;
  return may_be_one ? conditions_.Enter(Joined(place)) : std::nullopt;
}

TermId WalkStates::Joined(const Place& place) const {
  std::vector<TermId> heads = {place.cell};
  for (TailId tail = place.tail; tail != kNoTail; tail = tails_[tail].next)
    heads.push_back(tails_[tail].spine);
  TermId joined = kEmptyTerm;
  for (; !heads.empty(); heads.pop_back())
    joined = StateTerms(*automaton_).Join(heads.back(), joined);
  return joined;
}

// Two ways are one choice, which is a term: its branches may share what their places do not tell.
WalkStates::State WalkStates::EnterChoice(const std::vector<Place>& ways) {
  if (ways.empty()) return kDead;
  if (ways.size() == 1) return EnterBefore(ways.front().cell, ways.front().tail);
  std::vector<TermId> branches;
  for (const Place& way : ways) branches.push_back(Joined(way));
  return Enter(StateTerms(*automaton_).Choice(branches));
}

// As the derivative of a spine: each cell is stepped as far as those before may be empty. The floor
// is that of the spine at the bottom, of which nothing was read: what steps have pushed above it is
// none of the cells that a mask's key may leave out.
WalkStates::State WalkStates::MakeStep(State state, unsigned char byte) {
  assert(state > kFailed && state / row_size_ < places_.size() &&
         "the begin of a row of the table");
  const TermStore& store = automaton_->store();
  Place place = places_[state / row_size_];
  ways_.clear();
  for (;;) {
    const TermId next = automaton_->Step(place.cell, byte, *work_);
    // A step that failed is not kept: with more budget it may be made.
    if (next == kFailedTerm) return kFailed;
    if (next != kNothingTerm) ways_.push_back({next, place.tail});
    if (place.tail == kNoTail || !store.term(place.cell).nullable) break;
    place = FirstOf(place.tail);
  }
  LowerFloor(place);
  const State next = EnterChoice(ways_);
  if (next != kFailed) table_[state + static_cast<State>(classes_->Of(byte))] = next;
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
