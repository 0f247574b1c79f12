// A search by distance from where it begins: each token on the way adds 1, a declared name in its
// longest tokens 1 as a whole, and an unusual token some more (punctuation.h). A row's next tokens
// are so made before what lies further on the common path: that path is found again from each place
// of the row. Nearer states come first, so what a bound cuts off is what rows need least.
//
// Invariant  only makes what a row would make; a state is expanded once, at its smallest distance
//            known then.
// Cost       one mask a state. The bound is time, not work: how far it gets changes no answer.
#include "grammar_core/compile/warm_up_from.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/compile/punctuation.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// A state that allows more tokens is within a free text: its names are not to be guessed.
constexpr std::size_t kMaxNarrow = 64;
constexpr std::size_t kMaxNarrowNext = 24;

// Names of one object that are spelled out.
constexpr std::size_t kMaxNames = 24;

// What a token adds to a distance: each one, and beside it one of the few that a state allows.
constexpr int kStep = 1;
constexpr int kFewTokens = 1;
constexpr std::size_t kMaxDistance = 6;

class WarmUpRun {
 public:
  WarmUpRun(const CompiledGrammar& grammar, MaskedAutomaton* automaton, const WarmUpBounds& bounds,
            const std::atomic<bool>* cancelled)
      : automaton_(*automaton),
        index_(grammar.tokenizer().index()),
        punctuation_(grammar.tokenizer().punctuation()),
        max_masks_(bounds.masks),
        budget_(BudgetOf(bounds, cancelled)),
        work_(budget_) {}

  int Run(TermId start) {
    Push(start, 0);
    for (std::size_t distance = 0; distance < open_.size();) {
      // A full automaton is left to the rows: to fill it up would only bring the next one sooner.
      if (masks_ >= max_masks_ || !work_.ok() || automaton_.full()) break;
      if (open_[distance].empty()) {
        ++distance;
        continue;
      }
      const TermId state = open_[distance].front();
      open_[distance].pop_front();
      if (done_.insert(state).second) Expand(state, static_cast<int>(distance));
    }
    return masks_;
  }

 private:
  static Budget BudgetOf(const WarmUpBounds& bounds, const std::atomic<bool>* cancelled) {
    Budget::Bounds budget;
    budget.work = std::numeric_limits<std::int64_t>::max() / 2;
    budget.work_name = "warm_up_work";
    budget.deadline = Budget::Clock::now() + std::chrono::milliseconds(bounds.wall_ms);
    budget.cancelled = cancelled;
    return Budget(budget);
  }

  void Push(TermId state, int distance) {
    if (state == kNothingTerm || static_cast<std::size_t>(distance) >= open_.size()) return;
    const auto [at, is_new] = nearest_.try_emplace(state, distance);
    if (!is_new && at->second <= distance) return;
    assert(distance >= 0);
    at->second = distance;
    open_[static_cast<std::size_t>(distance)].push_back(state);
  }

  void Expand(TermId state, int distance) {
    const MaskRef* mask = automaton_.Mask(state, work_);
    if (mask == nullptr) return;
    ++masks_;
    assert(*mask != nullptr && masks_ <= max_masks_);
    const bool has_names = FollowNames(state, distance);
    for (const auto& [id, further] : punctuation_)
      if ((*mask)->Allows(id)) Push(Behind(state, id), distance + kStep + further);
    // Names are followed as they are declared, in long tokens; guesses at single ones would be more
    // states and fewer hits.
    if (has_names) return;
    for (const TokenId id : LongestOfFew(**mask))
      Push(Behind(state, id), distance + kStep + kFewTokens);
  }

  // Where an object's declared names may stand: each of them, in long tokens. Whether they may.
  bool FollowNames(TermId state, int distance) {
    const TermId cell = NamesIn(state);
    if (cell == kNothingTerm) return false;
    const TextList names = StateTerms(automaton_).NamesOf(cell, work_).list;
    for (std::size_t i = 0; i < std::min(names.texts.size(), kMaxNames); ++i) {
      TermId at = state;
      for (const TokenId id : TokensOf(names.texts[i]->substr(names.depth))) {
        at = Behind(at, id);
        Push(at, distance + kStep);
      }
    }
    return true;
  }

  // The term of the names that `state` may begin with, or Nothing.
  [[nodiscard]] TermId NamesIn(TermId state) const {
    const TermStore& store = automaton_.store();
    const Term& whole = store.term(state);
    const TermId cell = whole.kind == TermKind::kCat ? AsCat(whole).head : state;
    if (store.IsNames(cell)) return cell;
    if (store.term(cell).kind != TermKind::kAlt) return kNothingTerm;
    for (const TermId branch : BranchesOf(store, store.term(cell)))
      if (store.IsNames(branch)) return branch;
    return kNothingTerm;
  }

  // The longest token that `text` begins with, and so on. None for a text that JSON escapes.
  std::vector<TokenId> TokensOf(std::u32string_view text) const {
    std::string bytes;
    for (const char32_t character : text) {
      if (character < 0x20 || character == '"' || character == '\\') return {};
      AppendUtf8(character, &bytes);
    }
    std::vector<TokenId> tokens;
    for (absl::string_view rest = bytes; !rest.empty();) {
      const TokenId id = index_.FindLongest(rest);
      if (id < 0) return {};
      tokens.push_back(id);
      rest.remove_prefix(index_.vocabulary().TokenBytes(id).size());
    }
    return tokens;
  }

  TermId Behind(TermId state, TokenId id) {
    if (state == kNothingTerm) return kNothingTerm;
    std::size_t taken = 0;
    const TermId next = automaton_.StepToken(state, id, &taken, work_);
    return next == kFailedTerm ? kNothingTerm : next;
  }

  // Where few tokens are allowed, those that do not begin another one.
  std::vector<TokenId> LongestOfFew(const TokenMask& mask) const {
    const Vocabulary& vocabulary = index_.vocabulary();
    // Most masks have many, which is told without a look at them.
    const std::size_t most = kMaxNarrow + vocabulary.special_ids().size();
    if (static_cast<std::size_t>(mask.CountAllowed()) > most) return {};
    std::vector<TokenId> ids;
    mask.VisitAllowed([&](TokenId id) {
      if (!vocabulary.IsSpecial(id)) ids.push_back(id);
    });
    if (ids.size() > kMaxNarrow) return {};
    index_.SortByBytes(&ids);
    std::vector<TokenId> longest;
    for (std::size_t i = 0; i < ids.size() && longest.size() < kMaxNarrowNext; ++i) {
      const absl::string_view text = vocabulary.TokenBytes(ids[i]);
      const bool begins_next =
          i + 1 < ids.size() && vocabulary.TokenBytes(ids[i + 1]).substr(0, text.size()) == text;
      if (!begins_next) longest.push_back(ids[i]);
    }
    return longest;
  }

  MaskedAutomaton& automaton_;
  const TokenIndex& index_;
  const std::vector<PunctuationToken>& punctuation_;
  const int max_masks_;
  int masks_ = 0;
  Budget budget_;
  Work work_;
  std::array<std::deque<TermId>, kMaxDistance + 1> open_;
  absl::flat_hash_map<TermId, int> nearest_;
  absl::flat_hash_set<TermId> done_;
};

}  // namespace

int WarmUpFrom(const CompiledGrammar& grammar, MaskedAutomaton* automaton, TermId state,
               const WarmUpBounds& bounds, const std::atomic<bool>* cancelled) {
  return WarmUpRun(grammar, automaton, bounds, cancelled).Run(state);
}

}  // namespace maskd
