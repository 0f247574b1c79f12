// A row whose grammar has no arrays of distinct items is its automaton, without a lock or a copy:
// memory_ is null then, and each call costs a test. With such arrays calls go through the row's
// memory, under its lock, as forks in other threads share it.
//
// Invariant  an own state is only ever passed to the memory that made it; states of the automaton
//            mean the same in every row.
#include "grammar_core/rows/row_states.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/unique_items/row_step.h"

namespace maskd {

RowStates RowStates::MovedTo(std::shared_ptr<MaskedAutomaton> automaton,
                             std::span<State> states) const {
  if (memory_ == nullptr) {
    std::vector<TermId> terms;
    terms.reserve(states.size());
    for (const State state : states) terms.push_back(RowMemory::TermOf(state));
    automaton->Adopt(*automaton_, terms);
    std::ranges::transform(terms, states.begin(), &RowMemory::Of);
    return {std::move(automaton), nullptr};
  }
  const auto lock = memory_->Lock();
  std::shared_ptr<RowMemory> memory = memory_->CopyTo(automaton.get(), states);
  return {std::move(automaton), std::move(memory)};
}

RowStates::State RowStates::TakeOwn(State state, unsigned char byte, Work& work) const {
  assert(memory_ != nullptr && "only an automaton with distinct items has own states");
  const auto lock = memory_->Lock();
  return TakeByte(memory_.get(), state, byte, work);
}

RowStates::State RowStates::TakeUnsearched(State state, unsigned char byte, Work& work) const {
  if (memory_ == nullptr) return StepShared(state, byte, work);
  const auto lock = memory_->Lock();
  return TakeByteUnsearched(memory_.get(), state, byte, work);
}

RowStates::State RowStates::TakeForSearch(State state, unsigned char byte, Work& work) const {
  if (memory_ == nullptr) return StepShared(state, byte, work);
  const auto lock = memory_->Lock();
  return TakeByteForSearch(memory_.get(), state, byte, work);
}

TermId RowStates::SharedOf(State state) const {
  const auto lock = memory_->Lock();
  return memory_->Shared(state);
}

Hash128 RowStates::KeyOf(State state) const {
  if (!IsOwn(state)) return automaton_->store().KeyOf(RowMemory::TermOf(state));
  const auto lock = memory_->Lock();
  return memory_->KeyOf(state);
}

std::vector<std::string> RowStates::TakenRests(State state) const {
  const auto lock = memory_->Lock();
  return memory_->TakenRests(state);
}

bool RowStates::InString(State state) const {
  const auto lock = memory_->Lock();
  return memory_->InString(state);
}

std::string RowStates::BegunText(State state) const {
  const auto lock = memory_->Lock();
  return memory_->BegunText(state);
}

// The questions below are asked of own states by who closes a text; others repeat nothing.
bool RowStates::MayRepeat(State state) const {
  const auto lock = memory_->Lock();
  return memory_->MayRepeat(state);
}

bool RowStates::MayRepeatBehind(State state, unsigned char byte) const {
  const auto lock = memory_->Lock();
  return memory_->MayRepeatBehind(state, byte);
}

MaskRef RowStates::Mask(State state, Work& work) const {
  if (IsOwn(state)) {
    assert(memory_ != nullptr && "an own state of another row");
    const auto lock = memory_->Lock();
    return automaton_->MaskIn(memory_.get(), state, work);
  }
  const MaskRef* const mask = automaton_->Mask(RowMemory::TermOf(state), work);
  return mask == nullptr ? nullptr : *mask;
}

RowStates::State RowStates::StepText(State state, absl::string_view text, std::size_t* taken,
                                     Work& work) const {
  if (memory_ == nullptr)
    return RowMemory::Of(automaton_->StepText(RowMemory::TermOf(state), text, taken, work));
  // The states between two tokens are never asked for again: only the last one is kept.
  RowMemory::Scratch scratch(memory_.get());
  for (*taken = 0; *taken < text.size(); ++*taken) {
    const State next =
        TakeByte(memory_.get(), state, static_cast<unsigned char>(text[*taken]), work);
    if (next == kFailedTerm) return kFailedTerm;
    if (next == kNothingTerm) break;
    state = next;
  }
  return scratch.Keep(state);
}

RowStates::State RowStates::StepToken(State state, TokenId id, std::size_t* taken,
                                      Work& work) const {
  if (memory_ == nullptr)
    return RowMemory::Of(automaton_->StepToken(RowMemory::TermOf(state), id, taken, work));
  RowMemory::Scratch scratch(memory_.get());
  const absl::string_view bytes = automaton_->vocabulary().TokenBytes(id);
  State next = kNothingTerm;
  *taken = 0;
  if (automaton_->tables().IsText(id, automaton_->vocabulary())) {
    next = StepText(state, bytes, taken, work);
    if (next == kFailedTerm) return kFailedTerm;
    if (*taken < bytes.size()) next = kNothingTerm;
  }
  // A token may be taken by its bytes and by its name; the row then goes on both ways.
  const TermId named = StateTerms(*automaton_).BehindNamed(memory_->Shared(state), id);
  return scratch.Keep(AtTokenEnd(memory_->Union(next, named)));
}

FirstClasses::Set RowStates::FirstOf(State state, Work& work) const {
  if (!IsOwn(state)) return automaton_->FirstOf(RowMemory::TermOf(state), work);
  const auto lock = memory_->Lock();
  return memory_->FirstOf(state, work);
}

RowStates::OnlyByte RowStates::FindOnlyByte(State state, Work& work) const {
  OnlyByte only;
  for (int byte = 0; byte < 256; ++byte) {
    const State next = Take(state, static_cast<unsigned char>(byte), work);
    if (next == kFailedTerm) return {};
    if (next == kNothingTerm) continue;
    if (only.exists) return {};
    only = {true, static_cast<unsigned char>(byte), next};
  }
  if (names_tokens() && !NamedSteps(state).empty()) return {};
  return only;
}

}  // namespace maskd
