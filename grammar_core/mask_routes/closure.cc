// The greedy search of closure.h, over symbols: the ASCII characters, the spaces beyond ASCII and
// all other characters beyond ASCII, each taken as one. States are met level by level. A state that
// refuses much of what led to it is left out: those symbols leave C. Where C would lose too much,
// the state's level becomes the bound n instead.
//
// Invariant  C is closed over the states that are members: every symbol of C leads from a member at
//            a level below n to a member.
// Cost       at most kMaxMembers states of 130 symbols each.
#include "grammar_core/mask_routes/closure.h"

#include <algorithm>
#include <bitset>
#include <cassert>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// Bounds of the search; what is beyond them is left to the walk.
constexpr int kMaxLevel = 24;
constexpr std::size_t kMaxMembers = 32;
// Fewer tokens have more characters than hold any one character that would have to leave C.
constexpr int kFarLevel = 10;

// Symbols: the ASCII characters, one for all spaces beyond ASCII (SpacesBeyondAscii()) and one for
// all other characters beyond.
constexpr int kAscii = 128;
constexpr int kSpaces = 128;
constexpr int kBeyond = 129;
using Symbols = std::bitset<kBeyond + 1>;

// What one state does with each symbol.
struct Reaction {
  Symbols alive;
  bool takes_lead_byte = false;                 // the first byte of some character beyond ASCII
  bool takes_spaces = false;                    // some space beyond ASCII; may be true in vain
  std::vector<std::pair<int, TermId>> targets;  // one a live symbol, several for those beyond ASCII
};

// How much of the alphabet a set of symbols is; all characters beyond ASCII count as many.
int Weight(const Symbols& symbols) {
  constexpr int kBeyondWeight = 64;
  return static_cast<int>(symbols.count()) + (symbols[kBeyond] ? kBeyondWeight : 0);
}

class Search {
 public:
  // States behind more characters than `longest` are not looked at.
  Search(Automaton* automaton, int longest, Work* work)
      : automaton_(automaton), max_level_(std::min(kMaxLevel, longest)), work_(work) {}

  Closure Run(TermId start);
  std::optional<Closure> Structural(TermId state);

 private:
  enum class Fate : std::uint8_t { kOpen, kMember, kLeftOut, kBound };
  struct Found {
    Fate fate = Fate::kOpen;
    int level = 0;
    Symbols reached_by;
    Reaction reaction;
    bool has_reaction = false;
  };

  void ExploreFrom(TermId start);
  void Decide(TermId state);
  void Expand(TermId state);
  void Reach(TermId state, int symbol, int level);
  Closure Result(TermId start) const;
  // Whether every string of max_chars_ kept symbols leads to where no kept symbol is taken.
  bool Exhausted(TermId start) const;

  Reaction React(TermId state);
  void ReactBeyond(TermId state, Reaction* reaction);
  // What the characters beyond ASCII lead to, if each leads somewhere. `*takes_lead_byte`: see
  // Reaction.
  std::optional<std::vector<TermId>> StepByBytes(TermId state, bool* takes_lead_byte);
  TermId Step(TermId state, unsigned char byte) { return automaton_->Step(state, byte, *work_); }

  Automaton* automaton_;
  const int max_level_;
  Work* work_;
  Symbols kept_;
  int max_chars_ = CharacterClass::kAnyLength;
  absl::flat_hash_map<TermId, std::unique_ptr<Found>> found_;
  std::deque<TermId> open_;
  std::size_t members_ = 0;
};

// The exits of a state, as candidates.
void AddExits(const Reaction& reaction, const Symbols& kept, Closure* closure) {
  CandidateClass& candidates = closure->candidates;
  for (int c = 0; c < kAscii; ++c)
    if (reaction.alive[c] && !kept[c]) candidates.holds_any_of.set(c);
  candidates.holds_beyond_ascii |= reaction.takes_lead_byte && !kept[kBeyond];
  candidates.holds_spaces_beyond_ascii |= reaction.takes_spaces && !kept[kSpaces];
}

CharacterClass ClassOf(const Symbols& kept, int max_chars) {
  CharacterClass characters;
  for (int c = 0; c < kAscii; ++c) characters.ascii[c] = kept[c];
  characters.beyond_ascii = kept[kBeyond];
  characters.spaces_beyond_ascii = kept[kBeyond] && kept[kSpaces];
  characters.max_chars = max_chars;
  return characters;
}

// The length of the longest string of a set of strings that is clearly finite, or nothing.
std::optional<std::uint32_t> FiniteLength(const TermStore& store, CharTerm id) {
  const Term& term = store.term(id);
  switch (term.kind) {
    case TermKind::kEmpty:
      return 0;
    case TermKind::kCharSet:
      return 1;
    case TermKind::kText:
      return LengthOfRest(store, term);
    case TermKind::kTextSet: {
      const auto [set, first, end, depth] = AsTextSet(term);
      std::size_t longest = 0;
      for (std::uint32_t i = first; i < end; ++i)
        longest = std::max(longest, store.text_set(set)[i].size());
      return static_cast<std::uint32_t>(longest) - depth;
    }
    default:
      return std::nullopt;
  }
}

// Anything, then something that is possible: whatever comes, it is still to be found. So a pattern
// that is looked for anywhere, however it goes on, takes every string until the tail.
bool IsSearch(const TermStore& store, CharTerm id) {
  const Term& term = store.term(id);
  if (term.kind != TermKind::kCat || store.term(AsCat<CharTerm>(term).tail).may_be_empty)
    return false;
  return store.IsAllText(AsCat<CharTerm>(term).head);
}

// If every string of up to so many characters of one set can be taken from these characters, and no
// other character ever: how many. It holds for a repeat of a set, and for one of which finitely
// many shorter strings are taken out.
std::optional<std::uint32_t> FreeLength(const TermStore& store, CharTerm id) {
  const Term& term = store.term(id);
  if (IsSearch(store, id)) return kUnbounded;
  if (term.kind == TermKind::kAlt) {
    const auto branches = BranchesOf<CharTerm>(store, term);
    const bool any =
        std::ranges::any_of(branches, [&](CharTerm branch) { return IsSearch(store, branch); });
    return any ? std::optional(kUnbounded) : std::nullopt;
  }
  if (IsRepeatOfSet(store, term)) return AsRepeat<CharTerm>(term).max;
  if (term.kind != TermKind::kAnd) return std::nullopt;
  std::optional<std::uint32_t> free;
  std::uint32_t longest_removed = 0;
  for (const CharTerm part : BranchesOf<CharTerm>(store, term)) {
    if (store.term(part).kind == TermKind::kNot) {
      const std::optional<std::uint32_t> removed = FiniteLength(store, NegatedOf(store.term(part)));
      if (!removed.has_value()) return std::nullopt;
      longest_removed = std::max(longest_removed, *removed);
    } else if (const Term& repeat = store.term(part);
               !free.has_value() && IsRepeatOfSet(store, repeat)) {
      free = AsRepeat<CharTerm>(repeat).max;
    } else {
      return std::nullopt;
    }
  }
  return free.has_value() && longest_removed < *free ? free : std::nullopt;
}

// Tries every character beyond ASCII: as characters, or else by classes of bytes and states. They
// are one symbol, so the answer is for all or for none: where one is refused the symbol leaves C,
// and the tokens that hold it are walked.
void Search::ReactBeyond(TermId state, Reaction* reaction) {
  const auto set = [&](int symbol, const std::vector<TermId>& targets) {
    reaction->alive.set(symbol);
    for (const TermId target : targets) reaction->targets.emplace_back(symbol, target);
  };
  if (const auto beyond = StateTerms(*automaton_).StepBeyondAscii(state, *work_);
      beyond.has_value()) {
    const auto& [spaces, others] = *beyond;
    reaction->takes_spaces = !spaces.targets.empty();
    reaction->takes_lead_byte = reaction->takes_spaces || !others.targets.empty();
    if (spaces.all) set(kSpaces, spaces.targets);
    if (others.all) set(kBeyond, others.targets);
    return;
  }
  const auto targets = StepByBytes(state, &reaction->takes_lead_byte);
  reaction->takes_spaces = reaction->takes_lead_byte;
  if (!targets.has_value()) return;
  set(kSpaces, *targets);
  set(kBeyond, *targets);
}

std::optional<std::vector<TermId>> Search::StepByBytes(TermId state, bool* takes_lead_byte) {
  struct At {
    TermId state;
    int left;
    unsigned char second_lo, second_hi;
    bool operator==(const At&) const = default;
  };
  std::vector<At> layer;
  std::vector<TermId> targets;
  bool all = true;
  const auto add = [&](const At& at) {
    if (std::find(layer.begin(), layer.end(), at) == layer.end()) layer.push_back(at);
  };
  const auto each_class = [&](int lo, int hi, const auto& visit) {
    int last = -1;
    for (int byte = lo; byte <= hi; ++byte) {
      if (automaton_->classes().Of(byte) == last) continue;
      last = automaton_->classes().Of(byte);
      visit(static_cast<unsigned char>(byte));
    }
  };
  each_class(0xC2, 0xF4, [&](unsigned char lead) {
    const TermId next = Step(state, lead);
    if (next == kNothingTerm || next == kFailedTerm) {
      all = false;
      return;
    }
    *takes_lead_byte = true;
    // The second byte has a narrower range behind these four (Unicode, table 3-7): no overlong
    // forms, no surrogates, nothing above U+10FFFF.
    const unsigned char lo = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char hi = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    add({next, Utf8SequenceBytes(lead) - 1, lo, hi});
  });
  for (std::size_t i = 0; all && i < layer.size(); ++i) {
    const At at = layer[i];
    each_class(at.second_lo, at.second_hi, [&](unsigned char byte) {
      const TermId next = Step(at.state, byte);
      if (next == kNothingTerm || next == kFailedTerm)
        all = false;
      else if (at.left > 1)
        add({next, at.left - 1, 0x80, 0xBF});
      else
        targets.push_back(next);
    });
  }
  return all ? std::optional(std::move(targets)) : std::nullopt;
}

Reaction Search::React(TermId state) {
  Reaction reaction;
  for (int c = 0; c < kAscii; ++c) {
    const TermId next = Step(state, static_cast<unsigned char>(c));
    if (next == kNothingTerm || next == kFailedTerm) continue;
    reaction.alive.set(c);
    reaction.targets.emplace_back(c, next);
  }
  ReactBeyond(state, &reaction);
  return reaction;
}

std::optional<Closure> Search::Structural(TermId state) {
  const TermStore& store = automaton_->store();
  const TermStore::Parts parts = store.PartsOf(state);
  const Term& cell = store.term(parts.cell);
  if (!IsBetweenCharacters(cell)) return std::nullopt;
  const PartialChar partial = AsEncode(cell).partial;
  const std::optional<std::uint32_t> max_chars = FreeLength(store, AsEncode(cell).characters);
  if (!max_chars.has_value()) return std::nullopt;

  // What the state takes beside the characters of the set begins an escape, or belongs to the tail.
  const Reaction reaction = React(state);
  const Reaction tail = parts.tail != kEmptyTerm ? React(parts.tail) : Reaction();
  kept_ = reaction.alive;
  if (IsJsonString(partial.spelling)) kept_.reset('\\');
  for (int c = 0; c < kAscii; ++c)
    if (tail.alive[c]) kept_.reset(c);
  if (tail.takes_lead_byte) kept_.reset(kBeyond).reset(kSpaces);
  Closure closure;
  const bool bounded = *max_chars < static_cast<std::uint32_t>(CharacterClass::kAnyLength);
  closure.characters =
      ClassOf(kept_, bounded ? static_cast<int>(*max_chars) : CharacterClass::kAnyLength);
  AddExits(reaction, kept_, &closure);
  AddExits(tail, kept_, &closure);
  closure.candidates.ill_formed = true;
  closure.lowest_floor = store.term(state).floor();
  if (parts.tail != kEmptyTerm)
    closure.lowest_floor = std::min(closure.lowest_floor, store.term(parts.tail).floor());
  return closure;
}

void Search::Reach(TermId state, int symbol, int level) {
  assert(kept_[symbol] && level >= 1 && "only kept symbols lead on, one level further");
  std::unique_ptr<Found>& found = found_[state];
  if (found == nullptr) {
    found = std::make_unique<Found>();
    found->level = level;
    open_.push_back(state);
  } else if (found->fate == Fate::kLeftOut && kept_[symbol]) {
    found->fate = Fate::kOpen;
    found->reached_by.reset();
    open_.push_back(state);
  }
  found->reached_by.set(symbol);
}

void Search::Expand(TermId state) {
  const Found& found = *found_[state];
  const int level = found.level;
  for (const auto& [symbol, target] : found.reaction.targets)
    if (kept_[symbol]) Reach(target, symbol, level + 1);
}

void Search::Decide(TermId state) {
  Found& found = *found_[state];
  if (!found.has_reaction) {
    found.reaction = React(state);
    found.has_reaction = true;
  }
  // What led here may have left C since: then nothing of C does, and the state is no matter.
  const Symbols reached_by = found.reached_by & kept_;
  if (reached_by.none()) {
    found.fate = Fate::kLeftOut;
    return;
  }
  // Three ways out for a state that refuses `dead`: its level becomes the bound, the symbols that
  // lead to it leave C, or those that it refuses do. The one that keeps more of C is taken.
  const Symbols dead = kept_ & ~found.reaction.alive;
  const int all = Weight(kept_);
  const bool by_most = 2 * Weight(reached_by) >= all;
  if (found.level >= max_level_ || members_ >= kMaxMembers ||
      (dead.any() && found.level >= kFarLevel) || (by_most && 2 * Weight(dead) >= all)) {
    found.fate = Fate::kBound;
    max_chars_ = std::min(max_chars_, found.level);
    return;
  }
  if (dead.any() && Weight(reached_by) <= Weight(dead)) {
    kept_ &= ~reached_by;
    found.fate = Fate::kLeftOut;
    return;
  }
  kept_ &= ~dead;
  assert((kept_ & ~found.reaction.alive).none() && "C is closed over its members");
  found.fate = Fate::kMember;
  ++members_;
  Expand(state);
}

void Search::ExploreFrom(TermId start) {
  auto& found = found_[start] = std::make_unique<Found>();
  found->fate = Fate::kMember;
  found->reaction = React(start);
  found->has_reaction = true;
  kept_ = found->reaction.alive;
  members_ = 1;
  Expand(start);
  while (!open_.empty() && work_->ok()) {
    const TermId state = open_.front();
    open_.pop_front();
    // A state that was left out may be opened again, by a symbol that is still kept.
    if (found_[state]->fate == Fate::kOpen) Decide(state);
  }
}

bool Search::Exhausted(TermId start) const {
  // Whether n characters are all that any text has: then no token is longer, and none need be
  // walked.
  std::vector<TermId> layer = {start};
  for (int level = 0; level < max_chars_; ++level) {
    absl::flat_hash_set<TermId> next;
    for (const TermId state : layer) {
      for (const auto& [symbol, target] : found_.at(state)->reaction.targets)
        if (kept_[symbol]) next.insert(target);
    }
    layer.assign(next.begin(), next.end());
  }
  return std::all_of(layer.begin(), layer.end(), [&](TermId state) {
    return (found_.at(state)->reaction.alive & kept_).none();
  });
}

Closure Search::Result(TermId start) const {
  Closure closure;
  closure.characters = ClassOf(kept_, max_chars_);
  // A token that cuts a character in two is of no class of characters, so it is walked.
  closure.candidates.ill_formed = true;
  const bool bounded = max_chars_ < CharacterClass::kAnyLength;
  if (bounded && !Exhausted(start)) closure.candidates.longer_than = max_chars_;
  for (const auto& [state, found] : found_) {
    if (found->fate != Fate::kMember && found->fate != Fate::kBound) continue;
    closure.lowest_floor = std::min(closure.lowest_floor, automaton_->store().term(state).floor());
    AddExits(found->reaction, kept_, &closure);
  }
  return closure;
}

Closure Search::Run(TermId start) {
  ExploreFrom(start);
  return Result(start);
}

}  // namespace

Closure FindClosure(Automaton* automaton, TermId state, int longest, Work& work) {
  return Search(automaton, longest, &work).Run(state);
}

std::optional<Closure> FindStructuralClosure(Automaton* automaton, TermId state, Work& work) {
  return Search(automaton, kMaxLevel, &work).Structural(state);
}

const Term* FreeString(const TermStore& store, TermId state) {
  const Term& cell = store.term(store.PartsOf(state).cell);
  if (!IsBetweenCharacters(cell) || !IsJsonString(AsEncode(cell).partial.spelling)) return nullptr;
  const Term& text = store.term(AsEncode(cell).characters);
  return IsRepeatOfSet(store, text) ? &text : nullptr;
}

}  // namespace maskd
