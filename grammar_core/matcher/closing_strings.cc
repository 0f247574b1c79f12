// A choice of strings of one set of characters is one string as far as its characters go: where one
// of them is full or has enough, the others go on. So its tokens are told by their number of
// characters, as those of one string are.
//
// Invariant  a token of the closure's characters is within all strings that are long enough for it;
//            any other token that a string takes is among the closure's candidates.
// Cost       a look at the ways out of each string and of its tail.
#include "grammar_core/matcher/closing_strings.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// The characters of both, and the tokens that either cannot tell.
void TakeAlso(const Closure& other, Closure* closure) {
  CharacterClass& characters = closure->characters;
  CandidateClass& candidates = closure->candidates;
  const CharacterClass& more = other.characters;
  candidates.holds_any_of |= other.candidates.holds_any_of | (characters.ascii ^ more.ascii);
  candidates.holds_beyond_ascii |=
      other.candidates.holds_beyond_ascii || characters.beyond_ascii != more.beyond_ascii;
  candidates.holds_spaces_beyond_ascii |=
      other.candidates.holds_spaces_beyond_ascii ||
      characters.spaces_beyond_ascii != more.spaces_beyond_ascii;
  characters.ascii &= more.ascii;
  characters.beyond_ascii &= more.beyond_ascii;
  characters.spaces_beyond_ascii &= more.spaces_beyond_ascii;
  characters.max_chars = std::max(characters.max_chars, more.max_chars);
}

}  // namespace

bool TakesQuoteAlone(Automaton& automaton, TermId state, Work& work) {
  const FirstClasses::Set first = automaton.FirstOf(state, work);
  return first.count() == 1 && first.test(static_cast<std::size_t>(automaton.classes().Of('"')));
}

// What a branch of a choice begins with may be a choice again, where strings that are too short and
// those that are too long lead to the same.
std::vector<TermId> ClosingStrings::BranchesFrom(TermId state) const {
  Automaton& automaton = row_.automaton();
  const TermStore& store = automaton.store();
  std::vector<TermId> branches = {state};
  for (std::size_t i = 0; i < branches.size();) {
    const auto [cell, tail] = store.PartsOf(branches[i]);
    if (store.term(cell).kind != TermKind::kAlt) {
      ++i;
      continue;
    }
    const auto list = BranchesOf(store, store.term(cell));
    assert(list.size() > 1 && "a choice of one is none, and this would not end");
    if (branches.size() - 1 + list.size() > kMaxStrings) return {};
    // A copy: joining makes terms, and the list may move.
    const std::vector<TermId> within(list.begin(), list.end());
    branches[i] = StateTerms(automaton).Join(within[0], tail);
    for (std::size_t j = 1; j < within.size(); ++j)
      branches.push_back(StateTerms(automaton).Join(within[j], tail));
  }
  return branches;
}

std::vector<TermId> ClosingStrings::Of(TermId state) const {
  const TermStore& store = row_.automaton().store();
  std::vector<TermId> strings = BranchesFrom(state);
  // A string that is full takes its quote alone, which leads out of the others, too.
  if (strings.size() > 1) {
    std::erase_if(strings,
                  [&](TermId string) { return TakesQuoteAlone(row_.automaton(), string, work_); });
  }
  const bool are_alike = std::ranges::all_of(strings, [&](TermId string) {
    return FreeString(store, string) != nullptr && SetOf(string) == SetOf(strings[0]);
  });
  return are_alike ? strings : std::vector<TermId>();
}

std::pair<CharTerm, Spelling> ClosingStrings::SetOf(TermId string) const {
  const TermStore& store = row_.automaton().store();
  const Term& cell = store.term(store.PartsOf(string).cell);
  const Term* const text = FreeString(store, string);
  if (text == nullptr) return {kNothingTerm, Spelling::kUtf8};
  return {AsRepeat<CharTerm>(*text).body, AsEncode(cell).partial.spelling};
}

std::optional<Closure> ClosingStrings::ClosureOf(const std::vector<TermId>& strings) const {
  if (row_.names_tokens() || row_.limits_tokens()) return std::nullopt;
  std::optional<Closure> closure;
  for (const TermId string : strings) {
    const auto one = FindStructuralClosure(&row_.automaton(), string, work_);
    if (!one.has_value() || !work_.ok()) return std::nullopt;
    if (closure.has_value())
      TakeAlso(*one, &*closure);
    else
      closure = one;
  }
  return closure;
}

std::uint32_t ClosingStrings::OwnCharacters(TermId state,
                                            const std::vector<TermId>& strings) const {
  assert(!strings.empty() && "Of() has looked");
  const bool is_choice = strings[0] != state;
  std::uint32_t own = is_choice ? 1 : 0;
  for (const TermId string : strings) {
    const auto text = AsRepeat<CharTerm>(*FreeString(row_.automaton().store(), string));
    own = std::max(own, text.min);
    if (is_choice && text.max < kIndexedCharacters) own = std::max(own, text.max);
  }
  return std::min(own, kIndexedCharacters);
}

bool ClosingStrings::BeginsInString(TermId state) const {
  if (row_.names_tokens() || row_.limits_tokens()) return false;
  const TermStore& store = row_.automaton().store();
  const auto is_string = [&](TermId at) {
    const Term& cell = store.term(store.PartsOf(at).cell);
    return cell.kind == TermKind::kEncode && IsJsonString(AsEncode(cell).partial.spelling);
  };
  const Term& cell = store.term(store.PartsOf(state).cell);
  if (cell.kind != TermKind::kAlt) return is_string(state);
  const auto branches = BranchesOf(store, cell);
  return branches.size() <= kMaxStrings && std::ranges::any_of(branches, is_string);
}

std::optional<Closure> ClosingStrings::FreeClosureOf(TermId state) const {
  const Term* const text = FreeString(row_.automaton().store(), state);
  if (text == nullptr || AsRepeat<CharTerm>(*text).min > 0 ||
      AsRepeat<CharTerm>(*text).max != kUnbounded)
    return std::nullopt;
  return FindStructuralClosure(&row_.automaton(), state, work_);
}

bool ClosingStrings::IsWithin(const CharacterClass& characters,
                              std::span<const unsigned char> bytes) {
  return std::ranges::all_of(bytes, [&](unsigned char byte) {
    return byte < 0x80 ? characters.ascii[byte] : characters.beyond_ascii;
  });
}

}  // namespace maskd
