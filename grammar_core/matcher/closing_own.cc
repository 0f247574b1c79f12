// An ending that was found for one token is right for another one that leads to the same cells, if
// no item or name that is then in the text twice stands in its way. What is written already cannot
// become the value at hand but along few tokens, which are found; what the ending itself writes is
// compared with what the token does.
//
// Invariant  a token that is added has an ending of `rest` tokens that was walked to its end, for
//            itself or for one of its level. The value of that one differs in no way that matters.
// Cost       a walk to the end for each level, and for each token that is looked at by itself.
#include "grammar_core/matcher/closing_own.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {
namespace {

Budget OwnBudget(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "closing_work";
  return Budget(bounds);
}

absl::string_view AsView(const std::string& text) { return text; }

bool IsSpace(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

bool IsDigit(char byte) { return absl::ascii_isdigit(static_cast<unsigned char>(byte)); }

// What a token writes of a value that begins or goes on in it, and what it has before that: digits
// alone, or what follows its only quote. Empty where that is not so plain.
struct Value {
  std::string before;  // without white space
  absl::string_view text;
};
Value ValueIn(absl::string_view bytes) {
  if (std::ranges::all_of(bytes, IsDigit)) return {"", bytes};
  const std::size_t quote = bytes.find('"');
  if (quote == absl::string_view::npos || absl::StrContains(bytes, '\\')) return {};
  Value value = {"", bytes.substr(quote)};
  if (absl::StrContains(value.text.substr(1), '"')) return {};
  for (const char byte : bytes.substr(0, quote)) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(byte))) return {};
    if (!IsSpace(byte)) value.before.push_back(byte);
  }
  return value;
}

// Whether `ending` writes the string `text`, which is as far as its first quote, once more.
bool WritesAgain(absl::string_view ending, absl::string_view text) {
  const std::size_t quote = ending.find('"');
  if (quote == absl::string_view::npos) return false;
  const std::string string = absl::StrCat("\"", text, ending.substr(0, quote + 1));
  return absl::StrContains(ending.substr(quote + 1), string);
}

// The bytes of `text` that `token` goes along. It may have other white space between values.
// Nothing where it goes another way.
std::optional<std::size_t> BytesAlong(absl::string_view token, absl::string_view text,
                                      bool in_string) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (in_string && token[i] == '\\') return std::nullopt;
    if (at < text.size() && token[i] == text[at]) {
      ++at;
      if (token[i] == '"') in_string = !in_string;
    } else if (in_string || !IsSpace(token[i])) {
      return std::nullopt;
    }
  }
  return at;
}

}  // namespace

OwnClosing::OwnClosing(const TokenStepper* stepper, Endings* endings, State state,
                       const TokenMask& mask, int rest)
    : stepper_(*stepper),
      states_(stepper->states()),
      endings_(*endings),
      state_(state),
      mask_(mask),
      rest_(rest),
      budget_(OwnBudget(kStepWork)),
      work_(budget_),
      fitting_(mask.vocab_size()),
      leaving_(mask.vocab_size()) {}

TokenMask OwnClosing::Fitting(const ClosingLevelList& list) {
  assert(RowStates::IsOwn(state_) && "states of the automaton are narrowed by their levels alone");
  in_string_ = states_.InString(state_);
  if (in_string_) FindSpecial();
  for (const ClosingLevel& level : list.levels) {
    if (level.few > rest_) break;
    AddFitting(level);
  }
  return std::move(fitting_);
}

void OwnClosing::AddFitting(const ClosingLevel& level) {
  TokenMask tokens = level.mask.has_value() ? *level.mask : TokenMask(mask_.vocab_size());
  for (const TokenId id : level.tokens) tokens.Allow(id);
  tokens.Intersect(mask_);
  if (tokens.empty()) return;
  if (IsFarFromEnd(level.few, rest_, endings_.LongestPart(stepper_)))
    fitting_.Merge(tokens);
  else if (in_string_)
    AddInString(std::move(tokens));
  else
    AddOutside(tokens);
}

void OwnClosing::AddInString(TokenMask tokens) {
  TokenMask leaving = tokens;
  leaving.Intersect(leaving_);
  tokens.Subtract(leaving);
  AddWithin(std::move(tokens));
  AddLeaving(leaving);
}

// One token stands for the others, but for those that make the string at hand equal to another one:
// the row has written that already, or the ending will.
void OwnClosing::AddWithin(TokenMask tokens) {
  const auto take = [&](const Tokens& some) {
    for (const TokenId id : some) {
      if (!tokens.Allows(id)) continue;
      tokens.Forbid(id);
      if (Fits(id)) fitting_.Allow(id);
    }
  };
  take(special_);
  TokenId first = -1;
  tokens.VisitAllowedWhile([&](TokenId id) {
    first = id;
    return false;
  });
  if (first < 0) return;
  Ending ending;
  if (!Fits(first, &ending)) return;
  fitting_.Allow(first);
  tokens.Forbid(first);
  take(WrittenBy(ending.text));
  fitting_.Merge(tokens);
}

void OwnClosing::AddLeaving(const TokenMask& tokens) {
  tokens.VisitAllowed([&](TokenId id) {
    const Parts parts = PartsOf(stepper_.vocabulary().TokenBytes(id));
    const bool is_taken = std::ranges::binary_search(rests_, parts.inside, {}, AsView);
    if (parts.has_escape || is_taken) {
      if (Fits(id)) fitting_.Allow(id);
      return;
    }
    const bool stays = parts.inside.empty();
    // The ending of another token may write the very string that this one ends.
    const std::string ended = absl::StrCat("\"", begun_, parts.inside, "\"");
    const auto writes = [&](const Ending& ending) { return absl::StrContains(ending.text, ended); };
    const std::optional<Ending>& known = stays ? HereEnding() : InsideEnding();
    if (known.has_value() && (stays || !writes(*known))) {
      const auto fits = FitsAlong(id, parts.behind, true, known);
      if (fits.value_or(false)) return fitting_.Allow(id);
    }
    const auto [at, is_new] = behind_quote_.try_emplace(parts.behind);
    BehindQuote& group = at->second;
    if (is_new) group.fits = Fits(id, &group.ending);
    const bool is_apart = !is_new && writes(group.ending);
    if (is_apart ? Fits(id) : group.fits) fitting_.Allow(id);
  });
}

void OwnClosing::AddOutside(const TokenMask& tokens) {
  Tokens others;
  tokens.VisitAllowed([&](TokenId id) {
    const absl::string_view bytes = stepper_.vocabulary().TokenBytes(id);
    const auto fits = FitsAlong(id, bytes, false, HereEnding());
    if (fits.value_or(false))
      fitting_.Allow(id);
    else
      others.push_back(id);
  });
  AddAlike(others);
}

void OwnClosing::AddAlike(const Tokens& tokens) {
  if (tokens.empty()) return;
  FindTaken();
  std::optional<Ending> ending;  // of the one that stands for the others
  std::string before;
  bool fits = false;
  for (const TokenId id : tokens) {
    const Value value = ValueIn(stepper_.vocabulary().TokenBytes(id));
    if (value.text.empty() || std::ranges::binary_search(*taken_, id)) {
      if (Fits(id)) fitting_.Allow(id);
      continue;
    }
    if (!ending.has_value()) {
      ending.emplace();
      before = value.before;
      fits = Fits(id, &*ending);
      if (fits) fitting_.Allow(id);
      if (fits && !IsOfAll(*ending)) ending.reset();
      continue;
    }
    const bool is_string = value.text.front() == '"';
    const bool is_apart =
        value.before != before || (is_string ? WritesAgain(ending->text, value.text.substr(1))
                                             : absl::StrContains(ending->text, value.text));
    if (is_apart ? Fits(id) : fits) fitting_.Allow(id);
  }
}

bool OwnClosing::Fits(TokenId id, Ending* ending) {
  if (looks_ >= kMaxLooks || !work_.ok()) return false;
  const State next = Behind(id);
  if (next == kNothingTerm || !work_.ok()) return false;
  if (ending != nullptr) {
    ++looks_;
    std::optional<Ending> found = EndingFrom(next);
    if (!found.has_value() || found->few[0] > rest_) return false;
    *ending = *std::move(found);
    return true;
  }
  // Keys of the automaton's states tell only what a token meets, so those go by their number.
  const Hash128 key = RowStates::IsOwn(next) ? states_.KeyOf(next) : Mix(Hash128(), next.value());
  const auto [known, is_new] = fits_.try_emplace(key, false);
  if (is_new) {
    ++looks_;
    known->second = endings_.Few(stepper_, next, work_) <= rest_;
  }
  return known->second;
}

// The mask has the token, so that something can follow, and the ending shows what: nothing is
// searched for on the way.
OwnClosing::State OwnClosing::Behind(TokenId id) {
  if (states_.names_tokens()) {
    std::size_t taken = 0;
    return states_.StepToken(state_, id, &taken, work_);
  }
  State next = state_;
  for (const char byte : stepper_.vocabulary().TokenBytes(id)) {
    next = states_.TakeUnsearched(next, static_cast<unsigned char>(byte), work_);
    if (next == kNothingTerm || next == kFailedTerm) return kNothingTerm;
  }
  return states_.AtTokenEnd(next);
}

std::optional<OwnClosing::Ending> OwnClosing::EndingFrom(State state) {
  auto spelled = endings_.SpelledOf(stepper_, state, work_);
  if (!spelled.has_value() || !work_.ok()) return std::nullopt;
  Ending ending = {*std::move(spelled), {states_.Shared(state)}};
  Automaton& automaton = states_.automaton();
  assert(ending.few.size() == ending.text.size() + 1 && "tokens from each byte on, and the end");
  for (const char byte : ending.text) {
    const TermId next = automaton.Step(ending.path.back(), static_cast<unsigned char>(byte), work_);
    if (!work_.ok()) return std::nullopt;
    ending.path.push_back(next);
  }
  return ending;
}

const std::optional<OwnClosing::Ending>& OwnClosing::HereEnding() {
  if (!here_.has_value()) here_ = EndingFrom(state_);
  return *here_;
}

const std::optional<OwnClosing::Ending>& OwnClosing::InsideEnding() {
  if (inside_.has_value()) return *inside_;
  inside_.emplace();
  TokenId plain = -1;
  mask_.VisitAllowedWhile([&](TokenId id) {
    const absl::string_view bytes = stepper_.vocabulary().TokenBytes(id);
    const bool is_plain = std::ranges::all_of(bytes, absl::ascii_isalnum) &&
                          !std::ranges::binary_search(special_, id);
    if (is_plain) plain = id;
    return !is_plain;
  });
  if (plain < 0) return *inside_;
  const State next = Behind(plain);
  if (next != kNothingTerm && work_.ok()) *inside_ = EndingFrom(next);
  return *inside_;
}

std::optional<bool> OwnClosing::FitsAlong(TokenId id, absl::string_view text, bool in_string,
                                          const std::optional<Ending>& ending) {
  if (!ending.has_value()) return std::nullopt;
  const std::optional<std::size_t> along = BytesAlong(text, ending->text, in_string);
  if (!along.has_value()) return std::nullopt;
  assert(*along < ending->path.size() && "past the end of the ending");
  // White space may leave another state behind: what follows must lead to the same one.
  Automaton& automaton = states_.automaton();
  std::size_t taken = 0;
  const TermId next = automaton.StepToken(states_.Shared(state_), id, &taken, work_);
  if (next == kNothingTerm || !work_.ok()) return std::nullopt;
  if (*along == ending->text.size()) {
    if (!automaton.MayEnd(next)) return std::nullopt;
  } else {
    const auto byte = static_cast<unsigned char>(ending->text[*along]);
    if (automaton.Step(next, byte, work_) != ending->path[*along + 1] || !work_.ok())
      return std::nullopt;
  }
  return ending->few[*along] <= rest_;
}

// What of it may be left out is behind the cells that may be empty.
bool OwnClosing::IsOfAll(const Ending& ending) {
  if (ending.text.empty()) return true;
  Automaton& automaton = states_.automaton();
  if (automaton.MayEnd(ending.path[0])) return false;
  const TermId common = automaton.store().FromNeeded(ending.path[0]);
  const auto byte = static_cast<unsigned char>(ending.text[0]);
  return automaton.Step(common, byte, work_) == ending.path[1] && work_.ok();
}

OwnClosing::Parts OwnClosing::PartsOf(absl::string_view bytes) {
  bool has_escape = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\\') {
      has_escape = true;
      ++i;
    } else if (bytes[i] == '"') {
      return {bytes.substr(0, i), bytes.substr(i), has_escape};
    }
  }
  return {bytes, {}, has_escape};
}

void OwnClosing::FindSpecial() {
  begun_ = states_.BegunText(state_);
  rests_ = states_.TakenRests(state_);
  SortUnique(&rests_);
  for (const std::string& rest : rests_) AddSpecial(rest, &special_);
  const TokenIndex& index = stepper_.grammar().tokenizer().index();
  for (const TokenId id : index.TokensHolding('"')) {
    if (!mask_.Allows(id)) continue;
    if (!PartsOf(stepper_.vocabulary().TokenBytes(id)).behind.empty()) leaving_.Allow(id);
  }
  const auto is_escaped = [](char byte) {
    return byte == '"' || byte == '\\' || byte == '/' || static_cast<unsigned char>(byte) < ' ';
  };
  const bool may_be_escaped = std::ranges::any_of(
      rests_, [&](const std::string& rest) { return std::ranges::any_of(rest, is_escaped); });
  if (may_be_escaped) {
    for (const TokenId id : index.TokensHolding('\\'))
      if (mask_.Allows(id)) special_.push_back(id);
  }
  SortUnique(&special_);
}

// All tokens that `text` begins with.
void OwnClosing::AddSpecial(absl::string_view text, Tokens* special) const {
  const TokenTrie& trie = stepper_.grammar().tokenizer().index().trie();
  trie.VisitPrefixes(text, [&](std::size_t, const TrieNode& node) {
    trie.VisitTokens(node, [&](TokenId id) { special->push_back(id); });
  });
}

OwnClosing::Tokens OwnClosing::WrittenBy(absl::string_view ending) const {
  const TokenIndex& index = stepper_.grammar().tokenizer().index();
  Tokens written;
  const std::size_t closes = ending.find('"');
  if (closes == absl::string_view::npos) return written;
  const absl::string_view before = ending.substr(0, closes);
  bool in_string = false;
  for (std::size_t at = closes + 1, begin = 0; at < ending.size(); ++at) {
    if (ending[at] != '"') continue;
    in_string = !in_string;
    if (in_string) {
      begin = at + 1;
      continue;
    }
    absl::string_view value = ending.substr(begin, at - begin);
    if (!absl::ConsumePrefix(&value, begun_) || !absl::ConsumeSuffix(&value, before)) continue;
    index.trie().VisitPrefixes(value, [&](std::size_t bytes, const TrieNode& node) {
      if (bytes == value.size())
        index.trie().VisitTokens(node, [&](TokenId id) { written.push_back(id); });
    });
  }
  // The one character that is written with an escape and without.
  if (absl::StrContains(ending, '/')) {
    for (const TokenId id : index.TokensHolding('\\'))
      if (absl::StrContains(stepper_.vocabulary().TokenBytes(id), "\\/")) written.push_back(id);
  }
  SortUnique(&written);
  return written;
}

// Goes along the bytes that keep the value at hand, or one that begins, the equal of one written.
void OwnClosing::FindTaken() {
  if (taken_.has_value()) return;
  taken_.emplace();
  const TokenTrie& trie = stepper_.grammar().tokenizer().index().trie();
  const std::span<const TrieNode> nodes = trie.nodes();
  std::array<State, TokenTrie::kMaxDepth + 1> path;
  path[0] = state_;
  for (std::size_t i = 0; i < nodes.size() && work_.ok();) {
    const TrieNode& node = nodes[i];
    const auto byte = static_cast<unsigned char>(node.byte);
    const State next = states_.MayRepeatBehind(path[node.depth - 1], byte)
                           ? states_.TakeUnsearched(path[node.depth - 1], byte, work_)
                           : State(kNothingTerm);
    if (next == kNothingTerm || next == kFailedTerm || !states_.MayRepeat(next)) {
      i += node.skip;
      continue;
    }
    if (node.token != TokenTrie::kNoToken)
      trie.VisitTokens(node, [&](TokenId id) { taken_->push_back(id); });
    path[node.depth] = next;
    ++i;
  }
  SortUnique(&*taken_);
}

}  // namespace maskd
