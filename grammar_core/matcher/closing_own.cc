#include "grammar_core/matcher/closing_own.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/match.h"

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

}  // namespace

OwnClosing::OwnClosing(const TokenStepper* stepper, Endings* endings, State state,
                       const TokenMask& mask, int rest)
    : stepper_(*stepper),
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
  in_string_ = stepper_.states().InString(state_);
  if (in_string_) {
    FindSpecial();
    const TokenIndex& index = stepper_.grammar().tokenizer().index();
    for (const TokenId id : index.TokensHolding('"'))
      if (mask_.Allows(id)) leaving_.Allow(id);
  }
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
  // With so many tokens to spare another item will do, whatever is written already.
  if (IsFarFromEnd(level.few, rest_)) {
    fitting_.Merge(tokens);
    return;
  }
  if (!in_string_) return AddOthers(tokens);
  for (const TokenId id : special_) {
    if (!tokens.Allows(id)) continue;
    tokens.Forbid(id);
    if (Fits(id)) fitting_.Allow(id);
  }
  TokenMask leaving = tokens;
  leaving.Intersect(leaving_);
  tokens.Subtract(leaving);
  AddWithin(tokens);
  AddOthers(leaving);
}

// One of them stands for all: none makes the string one that is written already.
void OwnClosing::AddWithin(const TokenMask& tokens) {
  TokenId first = -1;
  tokens.VisitAllowedWhile([&](TokenId id) {
    first = id;
    return false;
  });
  if (first >= 0 && Fits(first)) fitting_.Merge(tokens);
}

void OwnClosing::AddOthers(const TokenMask& tokens) {
  tokens.VisitAllowed([&](TokenId id) {
    const absl::string_view bytes = stepper_.vocabulary().TokenBytes(id);
    const std::size_t quote = bytes.find('"');
    const bool is_plain = quote != absl::string_view::npos && quote > 0 &&
                          bytes.find('\\') == absl::string_view::npos;
    if (!in_string_ || !is_plain) {
      if (Fits(id)) fitting_.Allow(id);
      return;
    }
    const auto [known, is_new] = behind_quote_.try_emplace(bytes.substr(quote));
    BehindQuote& group = known->second;
    if (is_new) group.fits = Fits(id, &group.ending);
    // The ending of another token may write the very string that this one ends.
    const bool is_apart = !is_new && absl::StrContains(group.ending, bytes.substr(0, quote + 1));
    if (is_apart ? Fits(id) : group.fits) fitting_.Allow(id);
  });
}

bool OwnClosing::Fits(TokenId id, std::string* ending) {
  if (looks_ >= kMaxLooks || !work_.ok()) return false;
  const RowStates& states = stepper_.states();
  std::size_t taken = 0;
  const State next = states.StepToken(state_, id, &taken, work_);
  if (next == kNothingTerm || !work_.ok()) return false;
  // Keys of the automaton's states tell only what a token meets, so those go by their number.
  const Hash128 key = RowStates::IsOwn(next) ? states.KeyOf(next) : Mix(Hash128(), next.value());
  const auto [known, is_new] = fits_.try_emplace(key, false);
  if (is_new) {
    ++looks_;
    known->second = endings_.Few(stepper_, next, work_, ending) <= rest_;
  }
  return known->second;
}

void OwnClosing::FindSpecial() {
  for (const std::string& rest : stepper_.states().TakenRests(state_)) AddSpecial(rest);
  // The item at hand may become the equal of one that the ending itself would write.
  const std::string ending = endings_.Text(stepper_, state_);
  for (std::size_t at = 0; at < ending.size() && at < 64; ++at)
    AddSpecial(absl::string_view(ending).substr(at));
  SortUnique(&special_);
}

// All tokens that `text` begins with.
void OwnClosing::AddSpecial(absl::string_view text) {
  const TokenTrie& trie = stepper_.grammar().tokenizer().index().trie();
  trie.VisitPrefixes(text, [&](std::size_t, const TrieNode& node) {
    trie.VisitTokens(node, [&](TokenId id) { special_.push_back(id); });
  });
}

}  // namespace maskd
