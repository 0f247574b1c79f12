// Which states share levels: those of one family have the same, and a number has the levels of the
// cells that follow it beside its own. New ones are made by closing_level_maker.h.
//
// Invariant  the levels of a family hold all tokens of each of its states, with the ending behind
//            them; a token that one of the states does not take is not in its mask.
#include "grammar_core/matcher/closing_levels.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/matcher/closing_level_maker.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/rows/number_ends.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// What completes a number in any state, at most.
constexpr int kNumberBytesLeft = 64;

bool IsApart(const TokenStepper& stepper, TermId state, Work& work) {
  const TokenIndex& index = stepper.grammar().tokenizer().index();
  return IsNumberApart(stepper.states(), index, state, work);
}

// Whether tokens are cut behind runs of `body` beforehand, as they are behind white space.
bool IsCommonRun(const TokenStepper& stepper, TermId body) {
  const TermStore& store = stepper.states().automaton().store();
  const Term& bytes = store.term(body);
  return bytes.kind == TermKind::kByteSet &&
         stepper.grammar().tokenizer().index().CommonRuns(BytesOf(store, bytes)) != nullptr;
}

std::int64_t BytesOf(const ClosingLevelList& list) {
  auto bytes = static_cast<std::int64_t>(sizeof(list));
  for (const ClosingLevel& level : list.levels) {
    bytes += static_cast<std::int64_t>(sizeof(level) + level.tokens.capacity() * sizeof(TokenId));
    if (level.mask.has_value())
      bytes += static_cast<std::int64_t>(level.mask->words().size_bytes());
  }
  return bytes;
}

}  // namespace

std::optional<ClosingLevels::Family> ClosingLevels::FamilyOf(const TokenStepper& stepper,
                                                             TermId state) {
  const RowStates& row = stepper.states();
  if (row.names_tokens() || row.limits_tokens()) return std::nullopt;
  const TermStore& store = row.automaton().store();
  const auto [cell_id, tail] = store.PartsOf(state);
  const Term& cell = store.term(cell_id);
  if (const Term* const text = FreeString(store, state); text != nullptr) {
    const auto [body, fewest, most] = AsRepeat<CharTerm>(*text);
    return Family{{AnyTerm(body), AsEncode(cell).partial.spelling, fewest, tail}, most, false};
  }
  if (cell.kind != TermKind::kRepeat || row.automaton().tables().remembers()) return std::nullopt;
  const auto [body, fewest, most] = AsRepeat(cell);
  if (fewest > 0 || !IsCommonRun(stepper, body)) return std::nullopt;
  return Family{{AnyTerm(body), Spelling::kUtf8, 0, tail}, most, true};
}

// A string only before a quote: what ends such a string is in no way to go on within it. A run only
// before what cannot begin within it, for the same reason.
bool ClosingLevels::IsAlike(const TokenStepper& stepper, const Family& family, Work& work) {
  Automaton& automaton = stepper.states().automaton();
  const TermId tail = family.key.tail;
  if (!family.is_run) return !automaton.MayEnd(tail) && TakesQuoteAlone(automaton, tail, work);
  const FirstClasses::Set first = automaton.FirstOf(tail, work);
  const ByteBits& set = BytesOf(automaton.store(), automaton.store().term(TermId(family.key.body)));
  for (std::size_t byte = 0; byte < set.size(); ++byte) {
    const int byte_class = automaton.classes().Of(static_cast<unsigned char>(byte));
    if (set[byte] && first.test(static_cast<std::size_t>(byte_class))) return false;
  }
  return true;
}

void ClosingLevels::ForgetOthers(const TokenStepper& stepper) {
  if (const std::uint64_t serial = stepper.automaton_serial(); serial != automaton_) {
    known_.clear();
    families_.clear();
    held_bytes_ = 0;
    automaton_ = serial;
  }
}

// A number is in a new state after each token, so that its levels would be of no use again. What
// stays within it is a few bytes from its end, and what begins behind it is known of the tail.
bool ClosingLevels::IsFarNumber(const TokenStepper& stepper, State state, int rest,
                                Endings* endings, Work& work) {
  ForgetOthers(stepper);
  const RowStates& row = stepper.states();
  const auto [cell, tail] = row.automaton().store().PartsOf(row.Shared(state));
  if (tail == kEmptyTerm || !IsApart(stepper, row.Shared(state), work)) return false;
  const int behind = endings->Few(stepper, RowMemory::Of(tail), work);
  if (!work.ok() || behind > rest - kNumberBytesLeft) return false;
  if (!row.automaton().MayEnd(cell)) return true;
  const Levels levels = Of(stepper, tail, nullptr, endings, work);
  return work.ok() && levels->most() <= rest;
}

ClosingLevels::Levels ClosingLevels::Of(const TokenStepper& stepper, TermId state,
                                        const TokenMask* mask, Endings* endings, Work& work) {
  ForgetOthers(stepper);
  if (const auto known = known_.find(state); known != known_.end()) return known->second;
  std::optional<Family> family = FamilyOf(stepper, state);
  if (family.has_value()) {
    const auto known = families_.find(family->key);
    const auto reach = static_cast<std::uint32_t>(stepper.vocabulary().max_token_bytes());
    if (known != families_.end() && known->second.most >= std::min(family->most, reach))
      return known->second.levels;
    if (known == families_.end() && !IsAlike(stepper, *family, work)) family.reset();
  }
  Levels levels = Make(stepper, state, mask, &family, endings, work);
  // What was cut short by the budget is right for this call alone.
  if (work.ok()) Keep(state, family, levels);
  return levels;
}

ClosingLevels::Levels ClosingLevels::Make(const TokenStepper& stepper, TermId state,
                                          const TokenMask* mask, std::optional<Family>* family,
                                          Endings* endings, Work& work) {
  Automaton& automaton = stepper.states().automaton();
  const auto [cell, tail] = automaton.store().PartsOf(state);
  Levels behind = nullptr;
  const bool is_number = IsApart(stepper, state, work);
  if (is_number && automaton.MayEnd(cell)) behind = Of(stepper, tail, nullptr, endings, work);
  ClosingLevelMaker maker(stepper, endings, &work);
  if (is_number) return maker.MakeOfNumber(state, behind.get());
  if (!family->has_value() || ClosingLevelMaker::IsFew(mask)) return maker.Make(state, mask);
  (*family)->most = kUnbounded;
  if (!(*family)->is_run) return maker.MakeOfString(Widest(stepper, state));
  if (IsApart(stepper, tail, work)) behind = Of(stepper, tail, nullptr, endings, work);
  const TermStore& store = automaton.store();
  const ByteBits& set = BytesOf(store, store.term(TermId((*family)->key.body)));
  return maker.MakeOfRun(set, WidestBehind(stepper, tail, work), behind.get());
}

TermId ClosingLevels::Widest(const TokenStepper& stepper, TermId string) {
  const StateTerms terms(stepper.states().automaton());
  const auto [cell, tail] = stepper.states().automaton().store().PartsOf(string);
  return terms.Join(terms.WithoutBound(cell), tail);
}

TermId ClosingLevels::WidestBehind(const TokenStepper& stepper, TermId state, Work& work) {
  Automaton& automaton = stepper.states().automaton();
  const auto [cell, tail] = automaton.store().PartsOf(state);
  const TermKind kind = automaton.store().term(cell).kind;
  if (kind != TermKind::kBytes && kind != TermKind::kByteSet) return state;
  const std::optional<Family> family = FamilyOf(stepper, tail);
  if (!family.has_value() || family->is_run || !IsAlike(stepper, *family, work)) return state;
  return StateTerms(automaton).Join(cell, Widest(stepper, tail));
}

void ClosingLevels::Keep(TermId state, const std::optional<Family>& family, const Levels& levels) {
  const std::int64_t bytes = BytesOf(*levels);
  held_bytes_ += bytes;
  // All at once: which of them will be asked for again is not known, and rows share them.
  if (held_bytes_ > kMaxBytes) {
    known_.clear();
    families_.clear();
    held_bytes_ = bytes;
  }
  if (family.has_value())
    families_[family->key] = {family->most, levels};
  else
    known_[state] = levels;
}

}  // namespace maskd
