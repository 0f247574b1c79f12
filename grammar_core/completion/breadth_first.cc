// Most of what a text may hold makes no difference to how soon it ends: another character of a
// string, another digit, one space more. States that differ in such things alone are met once, in
// the one that takes the most.
//
// Invariant  arrivals_ has the first way to each state, in as few tokens as any; a state that was
//            left out takes no more than one that was met sooner, or cannot end in time.
// Cost       a walk over the token trie for each state that is met; in a string of any characters
//            over the tokens that hold a quote, an escape or part of a character.
#include "grammar_core/completion/breadth_first.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_trie.h"
#include "grammar_core/rows/number_ends.h"
#include "grammar_core/rows/token_steps.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// Of strings that must have more characters, all tokens are walked.
constexpr std::uint32_t kMostCounted = 32;
// Longer tokens have no length of their own in the index.
constexpr int kMostCharacters = 128;

}  // namespace

bool BreadthFirst::Run(State start) {
  if (states_.MayEnd(start)) return true;
  const State asked = start;
  start = WithoutCompleteNumber(start);
  if (LeastTokens(search_, start) > max_tokens_) return false;
  arrivals_[start] = {start, 0, 0};
  IsWidest(start);
  level_ = {start};
  recent_.fill(kUnknownTerm);
  for (int tokens = 1; tokens <= max_tokens_ && !level_.empty(); ++tokens) {
    tokens_left_ = max_tokens_ - tokens;
    for (const State state : std::exchange(level_, {})) {
      if (Expand(state)) {
        Trace(start);
        return true;
      }
      if (!work_.ok()) return false;
    }
  }
  // All that could end in time was looked at, from each state with the tokens that were left there.
  if (search_.late == nullptr) return false;
  search_.late->Add(states_, asked, max_tokens_ + 1);
  for (const auto& [state, arrival] : arrivals_)
    search_.late->Add(states_, state, max_tokens_ - arrival.tokens + 1);
  return false;
}

bool BreadthFirst::Expand(State state) {
  if (const std::optional<NumberEnd> end = EndOfNumber(state); end.has_value())
    return Arrive(state, end->token, end->behind);
  const auto in_time = [&](State next, const TrieNode& node) {
    return CanEndInTime(next, node.depth);
  };
  const auto arrive = [&](TokenId id, State next) {
    return Arrive(state, id, states_.AtTokenEnd(next));
  };
  const State string = StringAround(state);
  const std::optional<Closure> closure = ClosureOf(string);
  if (!closure.has_value()) {
    return VisitFirst(state, in_time, arrive) ||
           VisitLongSteps(*search_.index, states_, state, work_, arrive) || ExpandNamed(state);
  }
  if (string != state) {
    const WideState::Key inside = WideState::Of(states_, string).key;
    const auto is_partial = [&](State next, const TrieNode& node) {
      return in_time(next, node) && WideState::Of(states_, next).key != inside;
    };
    if (VisitFirst(state, is_partial, arrive)) return true;
  } else if (ExpandWithin(state, *closure)) {
    return true;
  }
  const auto leaving = search_.masks->TrieOf(closure->candidates);
  return VisitTokenSteps(*search_.index, *leaving, states_, state, work_, in_time, arrive);
}

// Most states take few bytes: only the nodes of these are looked at.
template <typename Enter, typename Visit>
bool BreadthFirst::VisitFirst(State state, Enter enter, Visit visit) {
  const FirstClasses::Set first = states_.FirstOf(state, work_);
  const TokenTrie& trie = search_.index->trie();
  std::int64_t visited = 0;
  for (int byte = 0; byte < 256 && work_.ok(); ++byte) {
    const auto byte_class = states_.classes().Of(static_cast<unsigned char>(byte));
    const std::size_t begin = trie.First(static_cast<unsigned char>(byte));
    if (!first.test(static_cast<std::size_t>(byte_class)) || begin == trie.nodes().size()) continue;
    const std::size_t end = begin + trie.nodes()[begin].skip;
    if (VisitTrieSteps(trie, begin, end, states_, state, &visited, work_, enter, visit))
      return true;
  }
  return false;
}

bool BreadthFirst::ExpandNamed(State state) {
  if (!states_.names_tokens()) return false;
  TokenMask named(search_.index->vocabulary().size());
  states_.AddNamedTokens(state, &named);
  bool found = false;
  named.VisitAllowed([&](TokenId id) {
    std::size_t taken = 0;
    if (found || !work_.Spend()) return;
    const State next = states_.StepToken(state, id, &taken, work_);
    if (next != kFailedTerm) found = Arrive(state, id, next);
  });
  return found;
}

// An own state may have to write another number than it likes: those are taken as they come.
bool BreadthFirst::BeginsWithNumber(State state) const {
  return !RowStates::IsOwn(state) &&
         IsNumberApart(states_, *search_.index, states_.Shared(state), work_);
}

BreadthFirst::State BreadthFirst::WithoutCompleteNumber(State state) const {
  if (!BeginsWithNumber(state)) return state;
  const Automaton& automaton = states_.automaton();
  const auto [cell, tail] = automaton.store().PartsOf(states_.Shared(state));
  return automaton.MayEnd(cell) ? RowMemory::Of(tail) : state;
}

// A token that goes on within the number is one more, and the state behind the number is the same.
std::optional<BreadthFirst::NumberEnd> BreadthFirst::EndOfNumber(State state) {
  if (!BeginsWithNumber(state)) return std::nullopt;
  const auto [cell, tail] = states_.automaton().store().PartsOf(states_.Shared(state));
  std::optional<TokenId> token;
  const auto enter = [](State, const TrieNode&) { return true; };
  const auto arrive = [&](TokenId id, State next) {
    if (states_.MayEnd(next) && search_.IsText(id)) token = id;
    return token.has_value();
  };
  VisitFirst(RowMemory::Of(cell), enter, arrive);
  if (!token.has_value()) return std::nullopt;
  return NumberEnd{*token, RowMemory::Of(tail)};
}

// Where that string was met and must have no more characters, tokens that complete the character
// and then stay within the string lead to states that take no more.
BreadthFirst::State BreadthFirst::StringAround(State state) const {
  if (RowStates::IsOwn(state)) return state;
  const TermStore& store = states_.automaton().store();
  const auto [cell, tail] = store.PartsOf(states_.Shared(state));
  const Term& term = store.term(cell);
  if (term.kind != TermKind::kEncode || IsOfNames(term) || IsBetweenCharacters(term) ||
      !IsRepeatOfSet(store, store.term(AsEncode(term).characters)))
    return state;
  const auto [characters, partial, object, progress] = AsEncode(term);
  const State string =
      RowMemory::Of(StateTerms(states_.automaton()).Encoded(characters, partial.spelling, tail));
  if (AsRepeat<CharTerm>(store.term(characters)).min > 0) return state;
  const WideState wide = WideState::Of(states_, string);
  const auto met = widest_.find(wide.key);
  return met != widest_.end() && met->second >= wide.most ? string : state;
}

// Where tokens are named or counted, bytes do not say all that a token does.
std::optional<Closure> BreadthFirst::ClosureOf(State state) const {
  if (search_.masks == nullptr || RowStates::IsOwn(state) || states_.names_tokens() ||
      states_.limits_tokens())
    return std::nullopt;
  const Term* const text = FreeString(states_.automaton().store(), states_.Shared(state));
  if (text == nullptr || AsRepeat<CharTerm>(*text).min > kMostCounted) return std::nullopt;
  return FindStructuralClosure(&states_.automaton(), states_.Shared(state), work_);
}

// Tokens of so many characters lead to one state. Among tokens with all that the string must have,
// the shortest leads to the widest state; and where it must have none, `state` is wider.
bool BreadthFirst::ExpandWithin(State state, const Closure& closure) {
  const Term* const text = FreeString(states_.automaton().store(), states_.Shared(state));
  const auto fewest = static_cast<int>(AsRepeat<CharTerm>(*text).min);
  if (fewest == 0) return false;
  CharacterClass characters = closure.characters;
  const int most = std::min(characters.max_chars, kMostCharacters);
  unsigned char sample = 0;
  while (sample < 0x7F && !characters.ascii[sample]) ++sample;
  State at = state;
  TokenMask shorter(search_.index->vocabulary().size());
  for (int count = 1; count <= most && work_.Spend(); ++count) {
    at = states_.Take(at, sample, work_);
    if (at == kNothingTerm || at == kFailedTerm) return false;
    characters.max_chars = count;
    TokenMask within = *search_.masks->TokensWithin(characters);
    const std::optional<TokenId> token = FirstText(within, shorter);
    if (token.has_value() && Arrive(state, *token, states_.AtTokenEnd(at))) return true;
    if (token.has_value() && count >= fewest) return false;
    shorter = std::move(within);
  }
  return false;
}

std::optional<TokenId> BreadthFirst::FirstText(TokenMask tokens, const TokenMask& but) const {
  tokens.Subtract(but);
  std::optional<TokenId> first;
  tokens.VisitAllowedWhile([&](TokenId id) {
    if (search_.IsText(id)) first = id;
    return !first.has_value();
  });
  return first;
}

// The rest of the token at hand counts in full, as if it were one of the longest.
bool BreadthFirst::CanEndInTime(State state, std::uint32_t depth) const {
  const auto reach = static_cast<std::int64_t>(search_.index->vocabulary().max_token_bytes());
  return states_.MinBytes(state) <= reach - depth + tokens_left_ * reach;
}

bool BreadthFirst::Arrive(State from, TokenId token, State next) {
  if (search_.IsExcluded(token)) return false;
  if (std::exchange(recent_[next.value() % recent_.size()], next) == next) return false;
  if (states_.MayEnd(next)) {
    last_ = {from, token};
    return true;
  }
  next = WithoutCompleteNumber(next);
  if (LeastTokens(search_, next) > tokens_left_ || !IsWidest(next)) return false;
  if (arrivals_.try_emplace(next, Arrival{from, token, max_tokens_ - tokens_left_}).second)
    level_.push_back(next);
  return false;
}

// A state that was met sooner is as good with more tokens left.
bool BreadthFirst::IsWidest(State next) {
  const WideState wide = WideState::Of(states_, next);
  const auto [known, is_new] = widest_.try_emplace(wide.key, wide.most);
  if (!is_new && known->second >= wide.most) return false;
  known->second = wide.most;
  return true;
}

void BreadthFirst::Trace(State start) {
  tokens_ = {last_.second};
  assert(arrivals_.contains(last_.first) && "the last token came from a state that was met");
  for (State state = last_.first; state != start; state = arrivals_.at(state).from)
    tokens_.push_back(arrivals_.at(state).token);
  std::ranges::reverse(tokens_);
}

}  // namespace maskd
