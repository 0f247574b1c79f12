// One walk over the tokens that a state may take; each goes to the level of the ending behind it.
// The states met last keep their level at hand.
//
// Invariant  levels ascend, and a token is in one of them; a level has its tokens as a list or as a
//            mask, whichever is smaller.
// Cost       see the header; in a string of free characters the tokens that stay within are a class
//            of the vocabulary's index and not walked.
#include "grammar_core/matcher/closing_levels.h"

#include <array>
#include <atomic>
#include <cassert>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/rows/token_steps.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

std::uint64_t NextNumber() {
  static std::atomic<std::uint64_t> number = 1;
  return number.fetch_add(1, std::memory_order_relaxed);
}

bool IsDigit(unsigned char byte) { return byte >= '0' && byte <= '9'; }

constexpr absl::string_view kNumberBytes = "0123456789+-.eE";
// What completes a number in any state, at most.
constexpr int kNumberBytesLeft = 64;

// Whether no token has a digit and behind it what belongs to no number.
bool DigitsAreAlone(const TokenIndex& index) {
  for (unsigned char digit = '0'; digit <= '9'; ++digit) {
    for (const TokenId id : index.TokensHolding(digit)) {
      const absl::string_view bytes = index.vocabulary().TokenBytes(id);
      const std::size_t end = bytes.find_first_not_of(kNumberBytes);
      if (end != absl::string_view::npos && end > 0 && IsDigit(bytes[end - 1])) return false;
    }
  }
  return true;
}

Budget ItemsBudget() {
  Budget::Bounds bounds;
  bounds.work = 20'000;
  bounds.work_name = "closing_work";
  return Budget(bounds);
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

class ClosingLevels::Maker {
 public:
  Maker(const TokenStepper& stepper, Endings* endings, Work* work)
      : stepper_(stepper),
        row_(stepper.states()),
        endings_(*endings),
        work_(*work),
        items_budget_(ItemsBudget()),
        items_work_(items_budget_),
        strings_(&row_, work),
        is_remembered_(row_.automaton().tables().remembers()) {}

  Levels Make(TermId state) {
    const TokenizerSpace& tokenizer = stepper_.grammar().tokenizer();
    const auto enter = [](State, const TrieNode&) { return true; };
    const auto arrive = [&](TokenId id, State next) {
      Add(id, row_.AtTokenEnd(next));
      return false;
    };
    const std::vector<TermId> strings = strings_.Of(state);
    const std::optional<Closure> closure = strings_.ClosureOf(strings);
    if (closure.has_value()) {
      AddWithin(*closure, state, strings);
      const auto trie = tokenizer.masks().TrieOf(closure->candidates);
      VisitTokenSteps(tokenizer.index(), *trie, row_, RowMemory::Of(state), work_, enter, arrive);
    } else if (strings_.BeginsInString(state)) {
      WalkString(state);
    } else {
      VisitTokenSteps(tokenizer.index(), row_, RowMemory::Of(state), work_, enter, arrive);
    }
    for (const NamedTokens::Step& step : StateTerms(row_.automaton()).NamedSteps(state)) {
      const State next = row_.AtTokenEnd(RowMemory::Of(step.next));
      step.tokens.VisitAllowed([&](TokenId id) { Add(id, next); });
    }
    return Finish();
  }

 private:
  // The tokens of an ending, and its key where rows may have own states.
  using Place = std::pair<int, std::uint64_t>;
  // Nodes of a trie: from one to before another.
  using NodeRanges = std::vector<std::pair<std::size_t, std::size_t>>;

  // Tokens of the strings' own characters, by their number.
  void AddWithin(const Closure& closure, TermId state, const std::vector<TermId>& strings) {
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
      TokenMask within = *stepper_.grammar().tokenizer().masks().TokensWithin(characters);
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
  void WalkString(TermId from) {
    const TokenizerSpace& tokenizer = stepper_.grammar().tokenizer();
    const TokenTrie& trie = tokenizer.index().trie();
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
    constexpr std::int64_t kNodesPerUnit = 64;  // as in token_steps.h
    std::int64_t visited = 0;
    for (std::size_t i = 0; i < nodes.size(); ++visited) {
      if (visited % kNodesPerUnit == 0 && !work_.Spend()) return;
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
    const auto arrive = [&](TokenId id, State next) {
      Add(id, row_.AtTokenEnd(next));
      return false;
    };
    VisitLongSteps(tokenizer.index(), row_, RowMemory::Of(from), work_, arrive);
    if (closure.has_value() && work_.ok()) AddFree(from, free, *closure, walked);
  }

  // The tokens of WalkString() that were not walked to their end: those of the closure's characters
  // lead to `free`, the others are taken one by one.
  void AddFree(TermId from, State free, const Closure& closure, const NodeRanges& walked) {
    const TokenizerSpace& tokenizer = stepper_.grammar().tokenizer();
    const TokenTrie& trie = tokenizer.index().trie();
    TokenMask known(stepper_.vocabulary().size());
    for (const auto& [begin, end] : walked) {
      for (const TrieNode& node : trie.nodes().subspan(begin, end - begin))
        if (node.token != TokenTrie::kNoToken)
          trie.VisitTokens(node, [&](TokenId id) { known.Allow(id); });
    }
    TokenMask within = *tokenizer.masks().TokensWithin(closure.characters);
    within.Subtract(known);
    known.Merge(within);
    const auto arrive = [&](TokenId id, State next) {
      if (!known.Allows(id)) Add(id, row_.AtTokenEnd(next));
      return false;
    };
    const auto rest = tokenizer.masks().TrieOf(closure.candidates);
    const auto enter = [](State, const TrieNode&) { return true; };
    VisitTrieSteps(*rest, row_, RowMemory::Of(from), work_, enter, arrive);
    AddAll(within, PlaceOf(row_.AtTokenEnd(free)));
  }

  void Add(TokenId id, State next) {
    Recent& recent = recent_[next.value() % kRecent];
    if (recent.next != next) recent = {next, LevelOf(PlaceOf(next))};
    assert(recent.level < levels_.size());
    levels_[recent.level].tokens.push_back(id);
  }

  void AddAll(const TokenMask& tokens, const Place& place) {
    if (tokens.empty()) return;
    ClosingLevel& level = levels_[LevelOf(place)];
    if (level.mask.has_value())
      level.mask->Merge(tokens);
    else
      level.mask = tokens;
  }

  Place PlaceOf(State next) {
    const int few = endings_.Few(stepper_, next, items_work_);
    return {few, is_remembered_ ? endings_.KeyOf(stepper_, next) : 0};
  }

  std::size_t LevelOf(const Place& place) {
    const auto [at, is_new] = places_.try_emplace(place, levels_.size());
    if (is_new) levels_.push_back({place.first, {}, std::nullopt});
    return at->second;
  }

  // A mask is smaller than a list of many tokens.
  Levels Finish() {
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

  // A token that is taken by its bytes and by name ends as soon as either.
  void TakeTheSooner() {
    TokenMask sooner(stepper_.vocabulary().size());
    for (ClosingLevel& level : levels_) {
      std::erase_if(level.tokens, [&](TokenId id) { return sooner.Allows(id); });
      if (level.mask.has_value()) level.mask->Subtract(sooner);
      for (const TokenId id : level.tokens) sooner.Allow(id);
      if (level.mask.has_value()) sooner.Merge(*level.mask);
    }
  }

  // A state that was met, and its level.
  struct Recent {
    State next = kUnknownTerm;
    std::size_t level = 0;
  };
  static constexpr std::size_t kRecent = 256;

  const TokenStepper& stepper_;
  const RowStates& row_;
  Endings& endings_;
  Work& work_;
  // For endings where items must differ: those that it is not enough for are too dear.
  Budget items_budget_;
  Work items_work_;
  std::vector<ClosingLevel> levels_;
  const ClosingStrings strings_;
  const bool is_remembered_;                        // rows may have own states
  absl::flat_hash_map<Place, std::size_t> places_;  // in levels_
  std::array<Recent, kRecent> recent_;
};

// Only before a quote: what ends such a string is in no way to go on within it.
std::optional<ClosingLevels::String> ClosingLevels::StringOf(const TokenStepper& stepper,
                                                             TermId state, Work& work) {
  Automaton& automaton = stepper.states().automaton();
  const RowStates& row = stepper.states();
  const TermStore& store = automaton.store();
  const Term* const text = FreeString(store, state);
  if (text == nullptr || AsRepeat<CharTerm>(*text).min > 0 || row.names_tokens() ||
      row.limits_tokens())
    return std::nullopt;
  const auto [cell, tail] = store.PartsOf(state);
  const auto quote = static_cast<std::size_t>(row.classes().Of('"'));
  const FirstClasses::Set first = automaton.FirstOf(tail, work);
  if (automaton.MayEnd(tail) || first.count() != 1 || !first.test(quote)) return std::nullopt;
  const Spelling spelling = AsEncode(store.term(cell)).partial.spelling;
  return String{{AsRepeat<CharTerm>(*text).body, spelling, tail}, AsRepeat<CharTerm>(*text).max};
}

void ClosingLevels::ForgetOthers(const TokenStepper& stepper) {
  if (const std::uint64_t serial = stepper.automaton_serial(); serial != automaton_) {
    known_.clear();
    strings_.clear();
    digits_alone_ = DigitsAreAlone(stepper.grammar().tokenizer().index());
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
  if (!digits_alone_ || row.names_tokens() || row.limits_tokens() ||
      row.automaton().tables().remembers())
    return false;
  const TermStore& store = row.automaton().store();
  const auto [cell, tail] = store.PartsOf(row.Shared(state));
  if (store.term(cell).kind != TermKind::kNumber || tail == kEmptyTerm) return false;
  for (const char byte : kNumberBytes)
    if (row.automaton().Step(tail, static_cast<unsigned char>(byte), work) != kNothingTerm)
      return false;
  const int behind = endings->Few(stepper, RowMemory::Of(tail), work);
  if (!work.ok() || behind > rest - kNumberBytesLeft) return false;
  if (!row.automaton().MayEnd(cell)) return true;
  const Levels levels = Of(stepper, tail, endings, work);
  return work.ok() && levels->most() <= rest;
}

ClosingLevels::Levels ClosingLevels::Of(const TokenStepper& stepper, TermId state, Endings* endings,
                                        Work& work) {
  ForgetOthers(stepper);
  if (const auto known = known_.find(state); known != known_.end()) return known->second;
  const std::optional<String> string = StringOf(stepper, state, work);
  if (string.has_value()) {
    const auto known = strings_.find(string->key);
    const auto reach = static_cast<std::uint32_t>(stepper.vocabulary().max_token_bytes());
    if (known != strings_.end() &&
        known->second.most_characters >= std::min(string->most_characters, reach)) {
      return known->second.levels;
    }
  }
  Levels levels = Maker(stepper, endings, &work).Make(state);
  // What was cut short by the budget is right for this call alone.
  if (work.ok()) Keep(state, string, levels);
  return levels;
}

void ClosingLevels::Keep(TermId state, const std::optional<String>& string, const Levels& levels) {
  const std::int64_t bytes = BytesOf(*levels);
  held_bytes_ += bytes;
  // All at once: which of them will be asked for again is not known, and rows share them.
  if (held_bytes_ > kMaxBytes) {
    known_.clear();
    strings_.clear();
    held_bytes_ = bytes;
  }
  if (string.has_value())
    strings_[string->key] = {string->most_characters, levels};
  else
    known_[state] = levels;
}

}  // namespace maskd
