// An own state is a set of ways to read the text. A step steps each of them, splits those that
// begin an array whose items must differ, and drops those that end in a repetition. Those that lead
// to nothing but repetitions are dropped above (row_step.h).
//
// Invariant  two ways of an own state are never in the same arrays.
// Cost       what a token keeps is its last state alone: all others live in a Scratch.
#include "grammar_core/unique_items/row_memory.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/held_bytes.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// States looked back at for one that is the same: those of a draft that is then taken.
constexpr std::size_t kLooksBack = 16;

std::atomic<std::int64_t> live_bytes = 0;

}  // namespace

RowMemory::Scratch::Scratch(RowMemory* memory)
    : memory_(memory),
      lock_(memory == nullptr ? std::unique_lock<std::recursive_mutex>() : memory->Lock()),
      mark_(memory == nullptr ? DistinctArrays::Mark() : memory->arrays_.Now()),
      states_(memory == nullptr ? 0 : memory->states_.size()),
      over_(memory == nullptr) {
  if (memory != nullptr) ++memory->scratches_;
}

RowMemory::Scratch::~Scratch() {
  if (!over_) Keep(kNothingTerm);
}

RowMemory::State RowMemory::Scratch::Keep(State state) {
  if (over_) return state;
  over_ = true;
  std::vector<OwnState>& states = memory_->states_;
  const bool is_new = IsOwn(state) && IndexOf(state) >= states_;
  Ways ways = is_new ? std::move(states[IndexOf(state)].ways) : Ways();
  // The state to keep is made of what lies behind the mark; its arrays are moved down before the
  // rest is given back, and it gets a new number at the end.
  assert(memory_->scratches_ > 0 && states.size() >= states_ && "scratches end in their order");
  states.erase(states.begin() + static_cast<std::ptrdiff_t>(states_), states.end());
  if (is_new) {
    std::vector<DistinctArrays::Id*> ids;
    for (Way& way : ways)
      for (DistinctArrays::Id& id : way.arrays) ids.push_back(&id);
    memory_->arrays_.Settle(mark_, ids);
  } else {
    memory_->arrays_.Rewind(mark_);
  }
  // Some of the states remembered by their keys are void now. StateOf() looks whether one is still
  // there, so they may stay until the outermost scratch ends: inner ones end often.
  if (--memory_->scratches_ == 0) {
    memory_->interned_ = {};
    memory_->known_ends_ = {};
  }
  const State kept = is_new ? memory_->StateOf(std::move(ways)) : state;
  if (memory_->scratches_ == 0) memory_->Count(memory_->heap_bytes());
  return kept;
}

RowMemory::~RowMemory() { Count(0); }

std::int64_t RowMemory::LiveBytes() { return live_bytes.load(std::memory_order_relaxed); }

void RowMemory::Count(std::int64_t heap_bytes) {
  live_bytes.fetch_add(heap_bytes - counted_bytes_, std::memory_order_relaxed);
  counted_bytes_ = heap_bytes;
}

RowMemory::Ways RowMemory::WaysOf(State state) const {
  if (IsOwn(state)) return At(state).ways;
  // A state of the automaton is the one way that is within no array.
  return {{TermOf(state), {}}};
}

TermId RowMemory::Shared(State state) const {
  return IsOwn(state) ? At(state).shared : TermOf(state);
}

bool RowMemory::IsAmbiguous(State state) const { return IsOwn(state) && At(state).ways.size() > 1; }

Hash128 RowMemory::KeyOf(State state) const {
  if (!IsOwn(state)) return automaton_->store().KeyOf(TermOf(state));
  const OwnState& own = At(state);
  return own.key.has_value() ? *own.key : KeyOf(own.ways);
}

Hash128 RowMemory::KeyOf(const Way& way) const {
  Hash128 key = Mix(Hash128{}, way.term.value());
  for (const DistinctArrays::Id array : way.arrays) key = Mix(key, arrays_.Key(array));
  return key;
}

Hash128 RowMemory::KeyOf(const Ways& ways) const {
  Hash128 key;
  // Ways have no order: which was met first says nothing.
  for (const Way& way : ways) key = MixUnordered(key, KeyOf(way));
  return key;
}

std::shared_ptr<RowMemory> RowMemory::CopyTo(Automaton* automaton, std::span<State> states) const {
  auto copy = std::make_shared<RowMemory>(automaton);
  copy->arrays_ = arrays_;
  std::vector<TermId> terms;  // of each state; of an own one its shared state and its ways
  absl::flat_hash_map<State, State> numbers;  // of own states, there
  for (State& state : states) {
    if (!IsOwn(state)) {
      terms.push_back(TermOf(state));
      continue;
    }
    const auto [at, is_new] = numbers.try_emplace(state, OwnAt(copy->states_.size()));
    if (is_new) {
      copy->states_.push_back(At(state));
      terms.push_back(At(state).shared);
      for (const Way& way : At(state).ways) terms.push_back(way.term);
    }
    state = at->second;
  }
  // One call for all terms: what they share is copied once. They come back in the same order.
  automaton->Adopt(*automaton_, terms);
  auto next = terms.begin();
  std::size_t known = 0;  // own states that have their terms
  for (State& state : states) {
    if (!IsOwn(state)) {
      state = Of(*next++);
    } else if (IndexOf(state) == known) {
      OwnState& own = copy->states_[known++];
      own.shared = *next++;
      for (Way& way : own.ways) way.term = *next++;
      own.key = copy->KeyOf(own.ways);
    }
  }
  assert(next == terms.end() && "each state took the terms that it gave");
  copy->Count(copy->heap_bytes());
  return copy;
}

bool RowMemory::MayRepeat(const Way& way) const {
  return std::ranges::any_of(way.arrays,
                             [&](DistinctArrays::Id array) { return arrays_.MayRepeat(array); });
}

bool RowMemory::MayRepeatInString(const Way& way, unsigned char byte) const {
  return std::ranges::any_of(
      way.arrays, [&](DistinctArrays::Id array) { return arrays_.MayRepeatInString(array, byte); });
}

bool RowMemory::InString(const Way& way) const {
  return !way.arrays.empty() && arrays_.InString(way.arrays.back());
}

std::string RowMemory::NumberAt(const Way& way) const {
  return way.arrays.empty() ? "" : arrays_.NumberAt(way.arrays.back());
}

bool RowMemory::WithinLimits(Work& work) const {
  const std::int64_t most = automaton_->tables().row_bounds.bytes;
  if (const std::int64_t bytes = held_bytes(); bytes > most)
    work.Fail(LimitExceeded("", "row_bytes", most, bytes));
  return work.ok();
}

void RowMemory::StepWay(const Way& way, unsigned char byte, Ways* next, Work& work) {
  const TermId term = automaton_->Step(way.term, byte, work);
  constexpr std::int64_t kWayUnits = 3;  // of arrays looked up, and perhaps an item told apart
  if (term == kNothingTerm || !work.Spend(kWayUnits) || !WithinLimits(work)) return;
  Way moved = {term, {}};
  // The byte belongs to every array around it: an inner item is a part of the outer one.
  for (const DistinctArrays::Id array : way.arrays) {
    const DistinctArrays::Id behind = arrays_.Append(array, byte);
    if (behind == DistinctArrays::kRefused) return;
    if (!arrays_.IsOver(behind)) moved.arrays.push_back(behind);
  }
  if (!automaton_->store().term(term).in_distinct) {
    next->push_back(std::move(moved));
    return;
  }
  // The byte has begun an array: the ways in which it must be distinct get a place in it, those in
  // which it is any array go on as they were.
  const auto [inside, outside] = StateTerms(*automaton_).SplitDistinct(term);
  if (outside != kNothingTerm) next->push_back({outside, moved.arrays});
  if (inside == kNothingTerm) return;
  moved.term = inside;
  moved.arrays.push_back(arrays_.Begin(byte));
  next->push_back(std::move(moved));
}

void RowMemory::Merge(Ways* ways) const {
  const auto same_arrays = [&](const Way& x, const Way& y) {
    return std::ranges::equal(
        x.arrays, y.arrays, {}, [&](DistinctArrays::Id id) { return arrays_.Key(id); },
        [&](DistinctArrays::Id id) { return arrays_.Key(id); });
  };
  for (std::size_t i = 0; i < ways->size(); ++i) {
    for (std::size_t j = ways->size() - 1; j > i; --j) {
      if (!same_arrays((*ways)[i], (*ways)[j])) continue;
      (*ways)[i].term = StateTerms(*automaton_).Choice({(*ways)[i].term, (*ways)[j].term});
      ways->erase(ways->begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

RowMemory::Ways RowMemory::WaysBehind(State state, unsigned char byte, Work& work) {
  Ways next;
  for (const Way& way : WaysOf(state)) StepWay(way, byte, &next, work);
  if (next.size() > 1) Merge(&next);
  return next;
}

std::vector<std::string> RowMemory::TakenRests(State state) const {
  std::vector<std::string> rests;
  if (!IsOwn(state)) return rests;
  for (const Way& way : At(state).ways)
    for (const DistinctArrays::Id array : way.arrays) arrays_.AddTakenRests(array, &rests);
  return rests;
}

// Every way is within the same string.
std::string RowMemory::BegunText(State state) const {
  if (!IsOwn(state) || At(state).ways[0].arrays.empty()) return {};
  return arrays_.BegunText(At(state).ways[0].arrays.back());
}

RowMemory::State RowMemory::Union(State state, TermId term) {
  if (term == kNothingTerm) return state;
  if (!IsOwn(state))
    return Of(state == kNothingTerm ? term : StateTerms(*automaton_).Choice({TermOf(state), term}));
  Ways ways = WaysOf(state);
  ways.push_back({term, {}});
  Merge(&ways);
  return StateOf(std::move(ways));
}

std::optional<RowMemory::State> RowMemory::OutsideOfArrays(const Ways& ways) {
  if (ways.empty()) return kNothingTerm;
  if (ways.size() == 1 && ways[0].arrays.empty()) return Of(ways[0].term);
  return std::nullopt;
}

RowMemory::State RowMemory::StateOf(Ways ways) {
  if (const auto outside = OutsideOfArrays(ways); outside.has_value()) return *outside;
  const Hash128 key = KeyOf(ways);
  const auto is_it = [&](const OwnState& own) { return own.key == key; };
  if (const auto known = interned_.find(key); known != interned_.end()) {
    const std::size_t at = IndexOf(known->second);
    if (at < states_.size() && is_it(states_[at])) return known->second;
  }
  const auto begin =
      states_.end() - static_cast<std::ptrdiff_t>(std::min(states_.size(), kLooksBack));
  if (const auto known = std::find_if(begin, states_.end(), is_it); known != states_.end())
    return OwnAt(static_cast<std::size_t>(known - states_.begin()));
  const State made = AddOwn(std::move(ways), key);
  if (scratches_ > 0) interned_[key] = made;
  return made;
}

RowMemory::State RowMemory::NewStateOf(Ways ways) {
  const auto outside = OutsideOfArrays(ways);
  return outside.has_value() ? *outside : AddOwn(std::move(ways), std::nullopt);
}

RowMemory::State RowMemory::AddOwn(Ways ways, std::optional<Hash128> key) {
  // As if items could be equal, the text may be read in any of these ways.
  TermId shared = ways[0].term;
  for (std::size_t i = 1; i < ways.size(); ++i)
    shared = StateTerms(*automaton_).Choice({shared, ways[i].term});
  // Bounded by Limits::row_bytes long before the numbers meet those of kFailedTerm.
  const State made = OwnAt(states_.size());
  assert(IsOwn(made) && "out of numbers for own states");
  states_.push_back({key, shared, std::move(ways)});
  return made;
}

template <typename Is>
bool RowMemory::AnyArray(State state, Is is) const {
  return IsOwn(state) && std::ranges::any_of(At(state).ways, [&](const Way& way) {
           return std::ranges::any_of(way.arrays, is);
         });
}

bool RowMemory::MayRepeat(State state) const {
  return AnyArray(state, [&](DistinctArrays::Id array) { return arrays_.MayRepeat(array); });
}

bool RowMemory::MayRepeatBehind(State state, unsigned char byte) const {
  return AnyArray(state,
                  [&](DistinctArrays::Id array) { return arrays_.MayRepeatBehind(array, byte); });
}

bool RowMemory::MayBeginAnother(State state, absl::string_view bytes) const {
  return AnyArray(state,
                  [&](DistinctArrays::Id array) { return arrays_.MayBeginAnother(array, bytes); });
}

FirstClasses::Set RowMemory::FirstOf(State state, Work& work) const {
  FirstClasses::Set first;
  for (const Way& way : WaysOf(state)) first |= automaton_->FirstOf(way.term, work);
  return first;
}

bool RowMemory::InString(State state) const {
  if (IsOwn(state))
    return AnyArray(state, [&](DistinctArrays::Id array) { return arrays_.InString(array); });
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(store.PartsOf(TermOf(state)).cell);
  return cell.kind == TermKind::kEncode && IsJsonString(AsEncode(cell).partial.spelling);
}

std::optional<RowMemory::InItem> RowMemory::InItemString(State state) const {
  if (!IsOwn(state) || IsAmbiguous(state)) return std::nullopt;
  const Way& way = At(state).ways[0];
  if (way.arrays.size() != 1 || !arrays_.InItemString(way.arrays[0])) return std::nullopt;
  return InItem{way.term, way.arrays[0], &arrays_};
}

std::int64_t RowMemory::held_bytes() const {
  return arrays_.held_bytes() + static_cast<std::int64_t>(states_.size() * sizeof(OwnState));
}

// Own states within many arrays hold some more each; they are few.
std::int64_t RowMemory::heap_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) + arrays_.heap_bytes() + HeldBytes(states_);
}

}  // namespace maskd
