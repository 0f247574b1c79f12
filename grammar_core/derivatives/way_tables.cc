// A state's transitions move from form to form as more become known: none, one in place, up to 3,
// up to 11, a row of few targets, a row of any. Each move fills the new form first and then
// publishes it by one release store, so a reader without the lock sees the old form or the whole
// new one. The old one is not reused.
//
// Cost  a move to a list copies at most 3 transitions, one to a row asks for every byte class.
#include "grammar_core/derivatives/way_tables.h"

#include <cassert>
#include <new>

namespace maskd {

void* WayTables::Allocate(std::size_t bytes) {
  return blocks_.Allocate((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
}

// The set of the last state is tried before the table.
ClassWords WayTables::MayOf(TermId state) {
  if (first_->TakesMost(state)) return nullptr;
  const ClassSet set = first_->Of(state);
  if (last_words_ == nullptr || last_set_ != set) {
    last_words_ = first_->sets().words(first_->sets().Keep(set));
    last_set_ = set;
  }
  return last_words_;
}

void WayTables::Widen(TermId state) {
  std::atomic<std::uint64_t>& slot = SlotOf(state);
  const StateWays before(slot.load(std::memory_order_relaxed));
  if (!before.is_single()) return;
  assert(before.to() != kUnknownTerm);  // what is single is known
  auto* const few = new (Allocate(sizeof(ShortWays))) ShortWays(MayOf(state));
  few->Add(before.byte_class(), before.to());
  slot.store(StateWays::Short(few).packed(), std::memory_order_release);
}

void WayTables::Put(TermId state, int byte_class, TermId to) {
  assert(to != kUnknownTerm && to != kFailedTerm);  // a failed step is tried again
  assert(byte_class >= 0 && static_cast<std::size_t>(byte_class) < classes_);
  Widen(state);
  std::atomic<std::uint64_t>& slot = SlotOf(state);
  const StateWays before(slot.load(std::memory_order_relaxed));
  if (before.none()) {
    slot.store(StateWays::Single(byte_class, to).packed(), std::memory_order_release);
  } else if (ShortWays* const few = before.few(); few != nullptr) {
    if (!few->full()) return few->Add(byte_class, to);
    auto* const more = new (Allocate(sizeof(LongWays))) LongWays(few->may());
    few->VisitAll([&](int known, TermId target) { more->Add(known, target); });
    more->Add(byte_class, to);
    slot.store(StateWays::Long(more).packed(), std::memory_order_release);
  } else if (LongWays* const more = before.more(); more != nullptr && !more->full()) {
    more->Add(byte_class, to);
  } else {
    MakeRow(state, 1);
    PutInRow(state, byte_class, to);
  }
}

bool WayTables::PutRest(TermId state, const TokenRest& rest, TermId to) {
  std::atomic<std::uint64_t>& slot = SlotOf(state);
  const StateWays before(slot.load(std::memory_order_relaxed));
  if (!before.none()) return false;
  if (FewRests* const rests = before.rests(); rests != nullptr) return rests->Add(rest, to);
  StateWays after = StateWays::Rest(rest, to);
  if (before.is_rest()) {
    auto* const rests = new (Allocate(sizeof(FewRests))) FewRests();
    rests->Add(before.rest(), before.to());
    rests->Add(rest, to);
    after = StateWays::Rests(rests);
  }
  slot.store(after.packed(), std::memory_order_release);
  return true;
}

void WayTables::PutAll(TermId state, std::span<const Way> ways, std::size_t targets) {
  MakeRow(state, targets);
  for (const Way& way : ways) PutInRow(state, way.byte_class, way.to);
}

void WayTables::PutInRow(TermId state, int byte_class, TermId to) {
  const StateWays row(SlotOf(state).load(std::memory_order_relaxed));
  if (PackedRow* const packed = row.packed_row(); packed != nullptr && packed->Add(byte_class, to))
    return;
  std::atomic<TermId>* const full = row.row() != nullptr ? row.row() : MakeFullRow(state);
  full[byte_class].store(to, std::memory_order_release);
}

// Of a state without a list the set of possible classes says what leads nowhere.
template <typename Visit>
void WayTables::VisitKnown(TermId state, Visit visit) {
  const StateWays ways(SlotOf(state).load(std::memory_order_relaxed));
  const ClassWords may = ways.none() || ways.is_single() ? MayOf(state) : nullptr;
  for (int c = 0; c < static_cast<int>(classes_); ++c) {
    TermId to = ways.To(c);
    if (to == kUnknownTerm && may != nullptr && !HasClass(may, c)) to = kNothingTerm;
    if (to != kUnknownTerm) visit(c, to);
  }
}

void WayTables::MakeRow(TermId state, std::size_t targets) {
  const StateWays before(SlotOf(state).load(std::memory_order_relaxed));
  if (before.row() != nullptr || before.packed_row() != nullptr) return;
  bool fits = targets <= PackedRow::kTargets;
  if (fits) {
    auto* const packed = new (Allocate(PackedRow::BytesFor(classes_))) PackedRow(classes_);
    VisitKnown(state, [&](int known, TermId to) { fits = fits && packed->Add(known, to); });
    if (fits) SlotOf(state).store(StateWays::Packed(packed).packed(), std::memory_order_release);
  }
  if (!fits) MakeFullRow(state);
}

// The set of possible classes is not kept with a row: what it excludes is written as Nothing.
std::atomic<TermId>* WayTables::MakeFullRow(TermId state) {
  static_assert(sizeof(std::atomic<TermId>) == sizeof(TermId));
  auto* const row = static_cast<std::atomic<TermId>*>(Allocate(classes_ * sizeof(TermId)));
  // Nobody reads the row yet.
  for (std::size_t c = 0; c < classes_; ++c) new (row + c) std::atomic<TermId>(kUnknownTerm);
  VisitKnown(state, [&](int c, TermId to) { row[c].store(to, std::memory_order_relaxed); });
  SlotOf(state).store(StateWays::Row(row).packed(), std::memory_order_release);
  return row;
}

}  // namespace maskd
