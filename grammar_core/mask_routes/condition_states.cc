// A state is a place (a product of conditions before a tail) and how far a character has been read.
// Each is looked up by what it is, so that a walk meets it once; whether a text is left is asked
// when it is made.
//
// Invariant  a place has a text: kNone in the tables stands for what was found to have none, or
//            could not be told.
// Cost       one question to ConditionSearch for each new place or part of a character.
#include "grammar_core/mask_routes/condition_states.h"

#include <cassert>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

std::optional<std::uint32_t> ConditionStates::Enter(TermId state) {
  constexpr std::size_t kFewConditions = 2;
  const TermStore::Parts parts = automaton_->store().PartsOf(state);
  const Term& cell = automaton_->store().term(parts.cell);
  if (cell.kind != TermKind::kEncode || IsOfNames(cell)) return std::nullopt;
  const auto [text, partial, object, progress] = AsEncode(cell);
  if (automaton_->store().term(text).kind != TermKind::kAnd) return std::nullopt;
  const std::optional<std::uint32_t> tail_index = TailOf(parts.tail, partial.spelling);
  if (!tail_index.has_value()) return std::nullopt;
  Product product;
  // With one condition a term is as small as a product.
  const auto read = [&, text = text](ConditionSearch& search) {
    return search.Read(text, &product);
  };
  if (!StateTerms(*automaton_).AskConditions(read) || product.conditions.size() < kFewConditions)
    return std::nullopt;
  const std::optional<std::uint32_t> place = PlaceOf(std::move(product), *tail_index);
  if (!place.has_value()) return std::nullopt;
  return StateOf(*place, partial);
}

// Nothing where a byte of the string could be one of what follows.
std::optional<std::uint32_t> ConditionStates::TailOf(TermId tail, Spelling spelling) {
  // Asked once a walk: strings of one grammar end before few different tails.
  const auto [known, is_new] = tail_ids_.try_emplace(tail, kNone);
  if (!is_new) return known->second == kNone ? std::nullopt : std::optional(known->second);
  const FirstClasses::Set first = automaton_->FirstOf(tail, *work_);
  for (int c = 0; c < automaton_->classes().count(); ++c) {
    const bool is_in_string =
        StepChar({spelling}, automaton_->classes().Sample(c)).result != CharStep::Result::kRefused;
    if (first[c] && is_in_string) return std::nullopt;
  }
  known->second = static_cast<std::uint32_t>(tails_.size());
  tails_.push_back(tail);
  return known->second;
}

// Nothing where no text is left.
std::optional<std::uint32_t> ConditionStates::PlaceOf(Product product, std::uint32_t tail) {
  const auto [known, is_new] = place_ids_.try_emplace(PlaceKey(std::move(product), tail), kNone);
  if (!is_new) return known->second == kNone ? std::nullopt : std::optional(known->second);
  const Product& at = known->first.first;
  bool is_nullable = false;
  const bool has_text = StateTerms(*automaton_).AskConditions([&](ConditionSearch& search) {
    is_nullable = search.IsNullable(at);
    return search.HasText(at, *work_);
  });
  if (!has_text || !work_->ok()) return std::nullopt;
  known->second = static_cast<std::uint32_t>(places_.size());
  places_.push_back({at, tail, is_nullable});
  return known->second;
}

std::uint32_t ConditionStates::StateOf(std::uint32_t place, const PartialChar& partial) {
  const auto [known, is_new] = state_ids_.try_emplace(StateKey(place, partial.Pack()),
                                                      static_cast<std::uint32_t>(states_.size()));
  if (is_new) states_.push_back({place, partial});
  return known->second;
}

ConditionStates::Next ConditionStates::Step(std::uint32_t index, unsigned char byte) {
  assert(index < states_.size() && "a state of this walk");
  // A walk charges its own nodes, which steps from states to known ones are far cheaper than these.
  constexpr std::uint64_t kStepsPerUnit = 8;
  if (++steps_ % kStepsPerUnit == 0 && !work_->Spend()) return {};
  const State state = states_[index];
  const Place& place = places_[state.place];
  const CharStep step = StepChar(state.partial, byte);
  switch (step.result) {
    case CharStep::Result::kPartial:
      return StepPartial(state.place, step.partial);
    case CharStep::Result::kCharacter:
      return StepCharacter(state.place, {state.partial.spelling}, step.character);
    case CharStep::Result::kRefused:
      break;
  }
  // The byte is none of the string, so it is the tail's, if the string may end here. Enter() has
  // made sure that no byte is both.
  if (!place.nullable || state.partial.phase != CharPhase::kStart) return {};
  return {.within = std::nullopt, .behind = automaton_->Step(tails_[place.tail], byte, *work_)};
}

ConditionStates::Next ConditionStates::StepPartial(std::uint32_t place,
                                                   const PartialChar& partial) {
  if (const auto known = state_ids_.find({place, partial.Pack()}); known != state_ids_.end())
    return {.within = known->second};
  // A character that is half read is one of some; whether any of them leads on is one question.
  const bool has_text = StateTerms(*automaton_).AskConditions([&](ConditionSearch& search) {
    return search.HasTextFrom(places_[place].product, CompletionsOf(partial), *work_);
  });
  if (!has_text) return {};
  return {.within = StateOf(place, partial)};
}

ConditionStates::Next ConditionStates::StepCharacter(std::uint32_t place, const PartialChar& start,
                                                     std::uint32_t character) {
  Product next;
  const bool goes_on = StateTerms(*automaton_).AskConditions([&](ConditionSearch& search) {
    return search.Follow(places_[place].product, character, &next, *work_);
  });
  if (!goes_on) return {};
  const std::optional<std::uint32_t> behind = PlaceOf(std::move(next), places_[place].tail);
  if (!behind.has_value()) return {};
  return {.within = StateOf(*behind, start)};
}

std::uint32_t ConditionStates::floor(std::uint32_t index) const {
  const State& state = states_[index];
  const Place& place = places_[state.place];
  const Term& tail = automaton_->store().term(tails_[place.tail]);
  const bool may_end = place.nullable && state.partial.phase == CharPhase::kStart;
  // Within the string nothing of the tail has been read yet.
  return may_end ? tail.floor() : tail.cells();
}

}  // namespace maskd
