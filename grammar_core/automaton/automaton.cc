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
#include <vector>

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
      texts_(&store_, &objects_, &derivative_, &classes_),
      full_bytes_(full_bytes),
      limits_tokens_(tables_->limits_tokens) {
  lowering_.set_objects(&objects_);
  start_ = store_.Call(tables_->facts.ir().start);
  const MutexLock lock(&mutex_);
  NoteGrowth(derivative_.held_bytes());
}

std::int64_t Automaton::own_bytes() {
  return static_cast<std::int64_t>(sizeof(Automaton)) + kEmptyDeques;
}

// Masks count as learnt. What rows have brought along does not: else a row with a deep stack would
// fill each new automaton that it moves to.
void Automaton::NoteGrowth(std::int64_t derivative_bytes) {
  const std::int64_t held = own_bytes() + derivative_bytes + mask_keeper_bytes_;
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

TermId Automaton::MakeStep(TermId state, int byte_class, Work& work) {
  const MutexLock lock(&mutex_);
  return TakeClass(state, byte_class, work);
}

// Another thread may have made the step while this one waited for the lock; ByteDerivative::Step()
// looks again before it derives. A failed step gives kFailedTerm, is not kept and may be tried
// again.
TermId Automaton::TakeClass(TermId state, int byte_class, Work& work) {
  MASKD_DCHECK_TERM(store_, state, state.value() < store_.size());
  SplitRests(state, work);
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

// Only the state behind a token is asked for, so one step may take all that is left of it.
TermId Automaton::StepBytes(TermId state, TokenId id, std::size_t* taken, Work& work) {
  const absl::string_view bytes = vocabulary_->TokenBytes(id);
  for (*taken = 0; *taken < bytes.size();) {
    TermId next = derivative_.Known(state, ClassOf(bytes[*taken]));
    if (next != kUnknownTerm) [[likely]]
      *taken += next == kNothingTerm ? 0 : 1;
    else
      next = MakeRest(state, id, bytes, taken, work);
    if (next == kFailedTerm) return kFailedTerm;
    if (next == kNothingTerm) break;
    state = next;
  }
  return WithoutDistinct(state);
}

// Each call is a byte further on, so it ends; a token has few.
void Automaton::PutRest(TermId state, const TokenRest& rest, TermId to, Work& work) {
  if (derivative_.WaysOf(state).BehindRest(rest) != kUnknownTerm) return;  // by another thread
  if (derivative_.Known(state, ClassAt(rest)) == kUnknownTerm &&
      derivative_.PutRest(state, rest, to)) {
    return;
  }
  SplitRests(state, work);
  PutBehindByte(state, rest, to, work);
}

void Automaton::PutBehindByte(TermId state, const TokenRest& rest, TermId to, Work& work) {
  const TermId next = derivative_.Step(state, ClassAt(rest), work);
  const absl::string_view bytes = vocabulary_->TokenBytes(static_cast<TokenId>(rest.id()));
  const std::size_t offset = rest.offset() + 1;
  if (next == kNothingTerm || next == kFailedTerm) return;
  if (bytes.size() - offset < 2 || !TokenRest::Fits(rest.id(), offset) || !texts_.Spares(next))
    return;
  PutRest(next, TokenRest(rest.id(), offset), to, work);
}

void Automaton::SplitRests(TermId state, Work& work) {
  const StateWays ways = derivative_.WaysOf(state);
  if (ways.is_rest()) PutBehindByte(state, ways.rest(), ways.to(), work);
  if (ways.rests() == nullptr) return;
  std::vector<std::pair<TokenRest, TermId>> rests;
  ways.rests()->VisitAll(
      [&rests](const TokenRest& rest, TermId to) { rests.emplace_back(rest, to); });
  for (const auto& [rest, to] : rests) PutBehindByte(state, rest, to, work);
}

// The first tokens that are taken from a state without a known way are taken whole. Where more
// come, or a byte alone, the state is one that texts part at: from then on it is left byte by byte.
TermId Automaton::MakeRest(TermId state, TokenId id, absl::string_view bytes, std::size_t* taken,
                           Work& work) {
  const std::size_t offset = *taken;
  const auto number = static_cast<std::uint32_t>(id);
  const auto behind_byte = [taken](TermId next) {
    *taken += next != kNothingTerm && next != kFailedTerm ? 1 : 0;
    return next;
  };
  if (bytes.size() - offset < 2 || !TokenRest::Fits(number, offset))
    return behind_byte(MakeStep(state, ClassOf(bytes[offset]), work));
  const TokenRest rest(number, offset);
  if (const TermId known = derivative_.WaysOf(state).BehindRest(rest); known != kUnknownTerm) {
    *taken = bytes.size();
    return known;
  }
  if (!texts_.Spares(state)) return behind_byte(MakeStep(state, ClassOf(bytes[offset]), work));
  const MutexLock lock(&mutex_);
  MASKD_DCHECK_TERM(store_, state, state.value() < store_.size());
  if (!derivative_.WaysOf(state).none())
    return behind_byte(TakeClass(state, ClassOf(bytes[offset]), work));
  std::size_t more = 0;
  const TermId next = texts_.Behind(state, bytes.substr(offset), &more, work);
  *taken += more;
  if (next != kNothingTerm && next != kFailedTerm) PutRest(state, rest, next, work);
  NoteGrowth(derivative_.RecentBytes());
  return work.ok() ? next : TermId(kFailedTerm);
}

// A token may be taken both ways: where `<x>` is text and a name too, the state behind it is the
// choice of what follows either. The bytes are tried first, without the lock.
TermId Automaton::StepToken(TermId state, TokenId id, std::size_t* taken, Work& work) {
  const absl::string_view bytes = vocabulary_->TokenBytes(id);
  TermId next = kNothingTerm;
  *taken = 0;
  if (tables_->IsText(id, *vocabulary_)) {
    next = StepBytes(state, id, taken, work);
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
