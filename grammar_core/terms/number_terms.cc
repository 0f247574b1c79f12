// NumberLanguage makes one state from another by a byte. A state gets an index here when a text
// first reaches it, so memory is taken for the states that texts visit, not for all that there are.
//
// Invariant  equal states of a number have one index, so a Number term is (number, index).
// Cost       a step: one step of the language, one look-up, and a hash for a new term.
#include "grammar_core/terms/number_terms.h"

#include <cassert>
#include <optional>
#include <utility>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/tight_vector.h"

namespace maskd {

NumberTerms::NumberTerms(TermStore* store) : store_(store), known_(store->ir().numbers.size()) {}

// A grammar may hold many numbers of which a text meets few, so each is made on first use.
NumberTerms::Known& NumberTerms::KnownOf(std::uint32_t number) {
  std::unique_ptr<Known>& known = known_[number];
  if (known == nullptr) {
    std::optional<NumberLanguage> language = NumberLanguage::Create(store_->ir().numbers[number]);
    assert(language.has_value());
    known = std::make_unique<Known>(*std::move(language), store_->facts().NumberHash(number));
    held_bytes_ += static_cast<std::int64_t>(sizeof(Known));
  }
  return *known;
}

TermId NumberTerms::Start(std::uint32_t number) { return TermOf(number, NumberLanguage::Start()); }

TermId NumberTerms::Step(std::uint32_t number, std::uint32_t state, unsigned char byte) {
  Known& known = KnownOf(number);
  const auto next = known.language.Step(known.states[state], byte);
  return next.has_value() ? TermOf(number, *next) : kNothingTerm;
}

std::uint32_t NumberTerms::IdOf(Known* known, const NumberLanguage::State& state) {
  const auto [found, hash] = known->ids.Find(state);
  if (found != IndexTable<Known::ByState>::kNone) return found;
  const auto bytes = [known] { return HeldBytes(known->states) + known->ids.held_bytes(); };
  const std::int64_t before = bytes();
  const auto id = static_cast<std::uint32_t>(known->states.size());
  AppendTight(&known->states, state);
  known->ids.Add(hash);
  held_bytes_ += bytes() - before;
  return id;
}

TermId NumberTerms::TermOf(std::uint32_t number, const NumberLanguage::State& state) {
  Known& known = KnownOf(number);
  const std::uint32_t id = IdOf(&known, state);
  return store_->Number(number, id, known.language.MayEnd(state), KeyOf(known, state));
}

// A state may name a set of exponents by a number of its own language, so the languages translate
// it first.
std::uint32_t NumberTerms::Adopt(const NumberTerms& from, std::uint32_t number,
                                 std::uint32_t state) {
  Known& known = KnownOf(number);
  const Known& theirs = *from.known_[number];
  return IdOf(&known, known.language.Adopt(theirs.language, theirs.states[state]));
}

std::int64_t NumberTerms::held_bytes() const { return HeldBytes(known_) + held_bytes_; }

// The set of exponents by what it holds: its number is this grammar's own.
Hash128 NumberTerms::KeyOf(const Known& known, const NumberLanguage::State& state) const {
  NumberLanguage::State clamped = state;
  // Digits left beyond the reach of one token cannot change a mask, so they share a key, unless
  // `left` also says what place the next digit has.
  if (!known.language.LeftIsPlace(state)) clamped.left = store_->ClampCount(state.left);
  Hash128 key = known.hash;
  for (const std::uint32_t field : clamped.Fields()) key = Mix(key, field);
  for (const IntRange& range : known.language.ExponentsOf(state))
    key = Mix(Mix(key, static_cast<std::uint64_t>(range.lo)), static_cast<std::uint64_t>(range.hi));
  return key;
}

}  // namespace maskd
