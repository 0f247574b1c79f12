// A walk over the tokens that a state may take; each goes to the level of the ending behind it. The
// states met last keep their level at hand.
//
// Invariant  levels ascend, and a token is in one of them; a level has its tokens as a list or as a
//            mask, whichever is smaller.
// Cost       some 5 ns a node of the trie that is walked, and 0.5 us a state that is new.
#include "grammar_core/matcher/closing_level_maker.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/rows/token_steps.h"
#include "grammar_core/terms/number_terms.h"

namespace maskd {
namespace {

std::uint64_t NextNumber() {
  static std::atomic<std::uint64_t> number = 1;
  return number.fetch_add(1, std::memory_order_relaxed);
}

Budget ItemsBudget() {
  Budget::Bounds bounds;
  bounds.work = 20'000;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

// For visitors of tokens that look at all.
constexpr auto kEnterAll = [](RowStates::State, const TrieNode&) { return true; };

}  // namespace

ClosingLevelMaker::ClosingLevelMaker(const TokenStepper& stepper, Endings* endings, Work* work)
    : stepper_(stepper),
      row_(stepper.states()),
      tokenizer_(stepper.grammar().tokenizer()),
      endings_(*endings),
      work_(*work),
      items_budget_(ItemsBudget()),
      items_work_(items_budget_),
      strings_(&row_, work),
      is_remembered_(row_.automaton().tables().remembers()) {}

bool ClosingLevelMaker::IsFew(const TokenMask* mask) {
  return mask != nullptr && mask->CountAllowed() <= kEachTokens;
}

ClosingLevelMaker::Levels ClosingLevelMaker::Make(TermId state, const TokenMask* mask) {
  const TokenIndex& index = tokenizer_.index();
  const std::vector<TermId> strings = IsFew(mask) ? std::vector<TermId>() : strings_.Of(state);
  const std::optional<Closure> closure = strings_.ClosureOf(strings);
  if (IsFew(mask)) {
    AddEach(state, *mask);
  } else if (closure.has_value()) {
    AddWithin(*closure, state, strings);
    const auto trie = tokenizer_.masks().TrieOf(closure->candidates);
    VisitTokenSteps(index, *trie, row_, RowMemory::Of(state), work_, kEnterAll, Adder());
  } else if (strings_.BeginsInString(state)) {
    WalkString(state);
  } else {
    VisitTokenSteps(index, row_, RowMemory::Of(state), work_, kEnterAll, Adder());
  }
  AddNamed(state);
  return Finish();
}

ClosingLevelMaker::Levels ClosingLevelMaker::MakeOfString(TermId state) {
  const std::vector<TermId> strings = {state};
  const std::optional<Closure> closure = strings_.ClosureOf(strings);
  if (!closure.has_value()) return Make(state, nullptr);
  AddWithin(*closure, state, strings);
  const auto trie = tokenizer_.masks().TrieOf(closure->candidates);
  WalkCell(*trie, 0, trie->nodes().size(), state);
  VisitLongSteps(tokenizer_.index(), row_, RowMemory::Of(state), work_, Adder());
  return Finish();
}

template <typename Lead>
void ClosingLevelMaker::AddLong(Lead lead) {
  for (const TokenId id : tokenizer_.index().trie().long_tokens()) {
    if (!work_.ok()) return;
    if (row_.automaton().tables().IsMarker(id)) continue;
    const State next = lead(stepper_.vocabulary().TokenBytes(id));
    if (next != kNothingTerm && next != kFailedTerm) Add(id, row_.AtTokenEnd(next));
  }
}

ClosingLevelMaker::Levels ClosingLevelMaker::MakeOfRun(const ByteBits& set, TermId tail,
                                                       const ClosingLevelList* of_tail) {
  const auto runs = tokenizer_.masks().RunsOf(set);
  const State behind = RowMemory::Of(tail);
  for (const RunToken& token : runs->whole()) Add(token.id, behind);
  const auto arrive = [&](TokenId cut, State next) {
    Add(runs->cut(cut).id, next);
    return false;
  };
  VisitTrieSteps(runs->rests(), row_, behind, work_, kEnterAll, arrive);
  if (of_tail != nullptr)
    AddLevels(*of_tail);
  else
    VisitTrieSteps(tokenizer_.index().trie(), row_, behind, work_, kEnterAll, Adder());
  AddLong([&](absl::string_view bytes) {
    const auto is_within = [&](char byte) { return set[static_cast<unsigned char>(byte)]; };
    const bool begins_tail = of_tail != nullptr && !is_within(bytes.front());
    if (begins_tail) return State(kNothingTerm);  // of its levels
    const auto run = std::ranges::find_if_not(bytes, is_within) - bytes.begin();
    return Behind(behind, bytes.substr(static_cast<std::size_t>(run)));
  });
  return Finish();
}

ClosingLevelMaker::Levels ClosingLevelMaker::MakeOfNumber(TermId state,
                                                          const ClosingLevelList* behind) {
  const TokenTrie& trie = tokenizer_.index().trie();
  for (const char byte : kNumberBytes) {
    const std::size_t first = trie.First(static_cast<unsigned char>(byte));
    if (first == trie.nodes().size()) continue;
    WalkCell(trie, first, first + trie.nodes()[first].skip, state);
  }
  AddLong([&](absl::string_view bytes) {
    const bool is_of_number = absl::StrContains(kNumberBytes, bytes.front());
    return is_of_number ? Behind(RowMemory::Of(state), bytes) : State(kNothingTerm);
  });
  if (behind != nullptr) AddLevels(*behind);
  return Finish();
}

ClosingLevelMaker::State ClosingLevelMaker::Behind(State state, absl::string_view bytes) {
  std::size_t taken = 0;
  const State next = row_.StepText(state, bytes, &taken, work_);
  return taken == bytes.size() ? next : State(kNothingTerm);
}

// A walk would try more first bytes than these tokens have.
void ClosingLevelMaker::AddEach(TermId state, const TokenMask& mask) {
  constexpr std::int64_t kTokensPerUnit = 8;
  const Vocabulary& vocabulary = stepper_.vocabulary();
  std::int64_t visited = 0;
  mask.VisitAllowedWhile([&](TokenId id) {
    if (visited++ % kTokensPerUnit == 0 && !work_.Spend()) return false;
    if (vocabulary.IsSpecial(id) || vocabulary.TokenBytes(id).empty() ||
        row_.automaton().tables().IsMarker(id))
      return true;
    const State next = Behind(RowMemory::Of(state), vocabulary.TokenBytes(id));
    if (next == kFailedTerm) return false;
    if (next != kNothingTerm) Add(id, row_.AtTokenEnd(next));
    return true;
  });
}

void ClosingLevelMaker::WalkCell(const TokenTrie& trie, std::size_t begin, std::size_t end,
                                 TermId state) {
  const auto [cell, tail] = row_.automaton().store().PartsOf(state);
  const auto arrive = [&, tail = tail](TokenId id, State next, bool is_within) {
    if (!is_within) return Add(id, next);
    Recent& recent = recent_cells_[next.value() % kRecent];
    if (recent.next != next) {
      const TermId whole = StateTerms(row_.automaton()).Join(RowMemory::TermOf(next), tail);
      recent = {next, LevelOf(PlaceOf(RowMemory::Of(whole)))};
    }
    levels_[recent.level].tokens.push_back(id);
  };
  VisitCellSteps(trie, begin, end, row_, RowMemory::Of(cell), RowMemory::Of(tail), work_, arrive);
}

void ClosingLevelMaker::AddWithin(const Closure& closure, TermId state,
                                  const std::vector<TermId>& strings) {
  const std::uint32_t own = strings_.OwnCharacters(state, strings);
  CharacterClass characters = closure.characters;
  const int most = characters.max_chars;
  unsigned char sample = 0;
  while (sample < 0x7F && !characters.ascii[sample]) ++sample;
  assert(!strings.empty() && "ClosureOf() has looked");
  State at = RowMemory::Of(state);
  std::optional<TokenMask> shorter;
  std::optional<Place> place;
  // Those of up to `count` characters that are not in a level yet.
  const auto add = [&](int count) {
    characters.max_chars = std::min(most, count);
    TokenMask within = *tokenizer_.masks().TokensWithin(characters);
    TokenMask added = within;
    if (shorter.has_value()) added.Subtract(*shorter);
    AddAll(added, *place);
    shorter = std::move(within);
  };
  for (std::uint32_t count = 1; count <= own + 1 && work_.Spend(); ++count) {
    at = row_.Take(at, sample, work_);
    if (at == kFailedTerm) return;
    if (at == kNothingTerm) break;
    const Place next = PlaceOf(row_.AtTokenEnd(at));
    if (place.has_value() && *place != next) add(static_cast<int>(count - 1));
    place = next;
  }
  if (place.has_value()) add(most);
}

// A string that must not be one of some, or be like a pattern, is mostly one of any characters
// after a few. All tokens that come to the first such state and go on with its characters lead to
// it, and are not walked any further.
void ClosingLevelMaker::WalkString(TermId from) {
  const TokenTrie& trie = tokenizer_.index().trie();
  const std::span<const TrieNode> nodes = trie.nodes();
  NodeRanges walked;  // and dead ones with all below
  State free = kNothingTerm;
  std::optional<Closure> closure;
  absl::flat_hash_set<State> others;  // that are not free
  std::array<State, kRecent> recent;  // some of them, at hand
  recent.fill(kUnknownTerm);
  const auto is_free = [&](State next) {
    if (closure.has_value() || RowStates::IsOwn(next)) return next == free;
    if (std::exchange(recent[next.value() % kRecent], next) == next) return false;
    if (!others.insert(next).second) return false;
    closure = strings_.FreeClosureOf(RowMemory::TermOf(next));
    if (closure.has_value()) free = next;
    return closure.has_value();
  };
  std::array<State, TokenTrie::kMaxDepth + 1> path;
  std::array<unsigned char, TokenTrie::kMaxDepth> bytes;
  path[0] = RowMemory::Of(from);
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < nodes.size(); ++visited) {
    if (visited % kStepsPerUnit == 0 && !work_.Spend()) return;
    const TrieNode& node = nodes[i];
    bytes[node.depth - 1] = static_cast<unsigned char>(node.byte);
    const State next = row_.Take(path[node.depth - 1], bytes[node.depth - 1], work_);
    if (next == kFailedTerm) return;
    if (next == kNothingTerm) {
      walked.emplace_back(i, i + node.skip);
      i += node.skip;
      continue;
    }
    if (is_free(next) &&
        ClosingStrings::IsWithin(closure->characters, std::span(bytes).first(node.depth))) {
      i += node.skip;
      continue;
    }
    if (node.token != TokenTrie::kNoToken) {
      walked.emplace_back(i, i + 1);
      trie.VisitTokens(node, [&](TokenId id) {
        if (!row_.automaton().tables().IsMarker(id)) Add(id, row_.AtTokenEnd(next));
      });
    }
    path[node.depth] = next;
    ++i;
  }
  VisitLongSteps(tokenizer_.index(), row_, RowMemory::Of(from), work_, Adder());
  if (closure.has_value() && work_.ok()) AddFree(from, free, *closure, walked);
}

// The tokens of WalkString() that were not walked to their end: those of the closure's characters
// lead to `free`, the others are taken one by one.
void ClosingLevelMaker::AddFree(TermId from, State free, const Closure& closure,
                                const NodeRanges& walked) {
  const TokenTrie& trie = tokenizer_.index().trie();
  TokenMask known(stepper_.vocabulary().size());
  for (const auto& [begin, end] : walked) {
    for (const TrieNode& node : trie.nodes().subspan(begin, end - begin))
      if (node.token != TokenTrie::kNoToken)
        trie.VisitTokens(node, [&](TokenId id) { known.Allow(id); });
  }
  TokenMask within = *tokenizer_.masks().TokensWithin(closure.characters);
  within.Subtract(known);
  known.Merge(within);
  const auto arrive = [&](TokenId id, State next) {
    if (!known.Allows(id)) Add(id, row_.AtTokenEnd(next));
    return false;
  };
  const auto rest = tokenizer_.masks().TrieOf(closure.candidates);
  VisitTrieSteps(*rest, row_, RowMemory::Of(from), work_, kEnterAll, arrive);
  AddAll(within, PlaceOf(row_.AtTokenEnd(free)));
}

void ClosingLevelMaker::AddNamed(TermId state) {
  for (const NamedTokens::Step& step : StateTerms(row_.automaton()).NamedSteps(state)) {
    const State next = row_.AtTokenEnd(RowMemory::Of(step.next));
    step.tokens.VisitAllowed([&](TokenId id) { Add(id, next); });
  }
}

void ClosingLevelMaker::Add(TokenId id, State next) {
  Recent& recent = recent_[next.value() % kRecent];
  if (recent.next != next) recent = {next, LevelOf(PlaceOf(next))};
  assert(recent.level < levels_.size());
  levels_[recent.level].tokens.push_back(id);
}

void ClosingLevelMaker::AddAll(const TokenMask& tokens, const Place& place) {
  if (tokens.empty()) return;
  ClosingLevel& level = levels_[LevelOf(place)];
  if (level.mask.has_value())
    level.mask->Merge(tokens);
  else
    level.mask = tokens;
}

void ClosingLevelMaker::AddLevels(const ClosingLevelList& list) {
  for (const ClosingLevel& from : list.levels) {
    if (from.mask.has_value()) AddAll(*from.mask, {from.few, 0});
    std::vector<TokenId>& tokens = levels_[LevelOf({from.few, 0})].tokens;
    tokens.insert(tokens.end(), from.tokens.begin(), from.tokens.end());
  }
}

ClosingLevelMaker::Place ClosingLevelMaker::PlaceOf(State next) {
  const int few = endings_.Few(stepper_, next, items_work_);
  return {few, is_remembered_ ? endings_.KeyOf(stepper_, next) : 0};
}

std::size_t ClosingLevelMaker::LevelOf(const Place& place) {
  const auto [at, is_new] = places_.try_emplace(place, levels_.size());
  if (is_new) levels_.push_back({place.first, {}, std::nullopt});
  return at->second;
}

// A mask is smaller than a list of many tokens.
ClosingLevelMaker::Levels ClosingLevelMaker::Finish() {
  const int size = stepper_.vocabulary().size();
  std::ranges::sort(levels_, {}, &ClosingLevel::few);
  for (ClosingLevel& level : levels_) {
    if (level.mask.has_value() ||
        level.tokens.size() > static_cast<std::size_t>(size / kBitsPerWord)) {
      if (!level.mask.has_value()) level.mask.emplace(size);
      for (const TokenId id : std::exchange(level.tokens, {})) level.mask->Allow(id);
    } else {
      level.tokens.shrink_to_fit();
    }
  }
  if (row_.names_tokens()) TakeTheSooner();
  return std::make_shared<const ClosingLevelList>(
      ClosingLevelList{NextNumber(), std::move(levels_)});
}

void ClosingLevelMaker::TakeTheSooner() {
  TokenMask sooner(stepper_.vocabulary().size());
  for (ClosingLevel& level : levels_) {
    std::erase_if(level.tokens, [&](TokenId id) { return sooner.Allows(id); });
    if (level.mask.has_value()) level.mask->Subtract(sooner);
    for (const TokenId id : level.tokens) sooner.Allow(id);
    if (level.mask.has_value()) sooner.Merge(*level.mask);
  }
}

}  // namespace maskd
