// A state is a term, and a step is a derivative of it, taken by classes of bytes. Terms are
// hash-consed, so the states that texts meet again are found again, and the automaton is built as
// texts ask for it.
//
// Invariant  what is published in a term's links is never changed: a reader needs no lock.
// Cost       a known step is two loads; a new one is a derivative under the grammar's lock.
// Source     Brzozowski, "Derivatives of Regular Expressions", 1964. Byte classes as in Owens,
//            Reppy and Turon, "Regular-expression derivatives re-examined", 2009.
#include "grammar_core/automaton/automaton.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_copy.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// A deque takes a block before it holds anything: three of the search for texts under many
// conditions.
constexpr std::int64_t kEmptyDeques = 3 * (512 + 64);

// Not an address, which a later automaton may have again.
std::uint64_t NextSerial() {
  static std::atomic<std::uint64_t> serial = 1;
  return serial.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Automaton::Automaton(std::shared_ptr<const GrammarTables> tables, const Vocabulary* vocabulary,
                     const Limits& limits, std::int64_t full_bytes)
    : tables_(std::move(tables)),
      vocabulary_(vocabulary),
      serial_(NextSerial()),
      classes_(tables_->classes),
      store_(tables_->facts, vocabulary->max_token_bytes()),
      numbers_(&store_),
      lowering_(&store_, &numbers_),
      objects_(&store_, &lowering_, limits.emptiness_states),
      characters_(&store_, &objects_, limits.emptiness_states),
      derivative_(&store_, &numbers_, &objects_, &characters_, &lowering_, &classes_, limits),
      full_bytes_(full_bytes),
      limits_tokens_(tables_->limits_tokens) {
  lowering_.set_objects(&objects_);
  start_ = store_.Call(tables_->facts.ir().start);
  const MutexLock lock(&mutex_);
  NoteGrowth(derivative_.held_bytes());
}

// Masks count as learnt. What rows have brought along does not: else a row with a deep stack would
// fill each new automaton that it moves to.
void Automaton::NoteGrowth(std::int64_t derivative_bytes) {
  const std::int64_t held = static_cast<std::int64_t>(sizeof(*this)) + kEmptyDeques +
                            derivative_bytes + mask_keeper_bytes_;
  held_bytes_.store(held, std::memory_order_relaxed);
  const std::int64_t learnt =
      held + mask_bytes_.load(std::memory_order_relaxed) - derivative_.adopted().bytes;
  if (learnt > full_bytes_) Retire();
}

// Holds both locks, always that of `from` first; states move in one direction only (see the
// header), so no two threads wait for each other. The copies are the rows' own: they count neither
// as learnt nor as work of the next caller.
void Automaton::Adopt(const Automaton& from, std::span<TermId> states) {
  const MutexLock theirs(&from.mutex_);
  const MutexLock lock(&mutex_);
  const ByteDerivative::Size before = derivative_.size();
  TermCopy copy({&from.store_, &from.objects_, &from.numbers_}, {&store_, &objects_, &numbers_});
  assert(&from != this && from.tables_ == tables_);
  for (TermId& state : states) state = copy.Of(state);
  derivative_.NoteAdopted(before);
  store_.ForgetEffort();  // else the next row's call would pay for it
  NoteGrowth(derivative_.held_bytes());
}

void Automaton::CountMasks(std::int64_t more_bytes, std::int64_t keeper_bytes) {
  const MutexLock lock(&mutex_);
  mask_bytes_.fetch_add(more_bytes, std::memory_order_relaxed);
  mask_keeper_bytes_ = keeper_bytes;
  NoteGrowth(derivative_.held_bytes());
}

// Another thread may have made the step while this one waited for the lock; ByteDerivative::Step()
// looks again before it derives. A failed step gives kFailedTerm, is not kept and may be tried
// again.
TermId Automaton::MakeStep(TermId state, int byte_class, Work& work) {
  const MutexLock lock(&mutex_);
  MASKD_DCHECK_TERM(store_, state, state.value() < store_.size());
  const TermId next = derivative_.Step(state, byte_class, work);
  MASKD_DCHECK_TERM(store_, state, next != kFailedTerm || !work.ok());
  NoteGrowth(derivative_.RecentBytes());
  return next;
}

FirstClasses::Set Automaton::FirstOf(TermId state, Work& work) {
  const MutexLock lock(&mutex_);
  return derivative_.FirstOf(state, work);
}

// No lock is held from byte to byte: known steps need none, and a new one takes it for itself.
TermId Automaton::StepText(TermId state, absl::string_view text, std::size_t* taken, Work& work) {
  for (*taken = 0; *taken < text.size(); ++*taken) {
    const TermId next = Step(state, static_cast<unsigned char>(text[*taken]), work);
    if (next == kFailedTerm) return kFailedTerm;
    if (next == kNothingTerm) break;
    state = next;
  }
  return WithoutDistinct(state);
}

// A token may be taken both ways: where `<x>` is text and a name too, the state behind it is the
// choice of what follows either. The bytes are tried first, without the lock.
TermId Automaton::StepToken(TermId state, TokenId id, std::size_t* taken, Work& work) {
  const absl::string_view bytes = vocabulary_->TokenBytes(id);
  TermId next = kNothingTerm;
  *taken = 0;
  if (tables_->IsText(id, *vocabulary_)) {
    next = StepText(state, bytes, taken, work);
    if (next == kFailedTerm) return kFailedTerm;
    if (*taken < bytes.size()) next = kNothingTerm;
  }
  if (tables_->named_tokens.none()) return AtTokenEnd(next);
  const MutexLock lock(&mutex_);
  const TermId named = tables_->named_tokens.Behind(state, id, &store_, &lowering_);
  return store_.AtTokenEnd(store_.Alt(next, named));
}

TermId Automaton::MakeTokenEnd(TermId state) {
  const MutexLock lock(&mutex_);
  return store_.AtTokenEnd(state);
}

TermId Automaton::WithoutDistinct(TermId state) {
  if (!tables_->remembers() || !store_.term(state).in_distinct) return state;
  const MutexLock lock(&mutex_);
  return store_.WithoutDistinct(state);
}

}  // namespace maskd
