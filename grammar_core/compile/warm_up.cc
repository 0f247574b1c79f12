#include "grammar_core/compile/warm_up.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/compile/compiler.h"

namespace maskd {
namespace {

// A state that allows more tokens is within a free text: its names are not to be guessed.
constexpr std::size_t kMaxNarrow = 256;
constexpr std::size_t kMaxNarrowNext = 24;

constexpr const char* kPunctuation[] = {
    "\"",    "\":",  "\",",   ":",     ",",  " \"",  ",\"",   ", \"",  " ",      "\n",
    "{",     "{\"",  " {",    " {\"",  "}",  "\"}",  "},",    " }",    "[",      " [",
    "[\"",   " [\"", "]",     "\"]",   "],", " ]",   "[{\"",  "}]",    "0",      " 0",
    "1",     " 1",   "-",     " -",    ".",  "true", " true", "false", " false", "null",
    " null", "a",    "\":\"", "\",\"", "}}", "\"},", "\"],",  "{}",    "[]"};

class WarmUpRun {
 public:
  WarmUpRun(const CompiledGrammar& grammar, const WarmUpBounds& bounds,
            const std::atomic<bool>* cancelled)
      : automaton_(grammar.automaton()),
        index_(grammar.tokenizer().index()),
        max_masks_(bounds.masks),
        budget_(BudgetOf(bounds, cancelled)),
        work_(budget_) {
    for (const char* text : kPunctuation) {
      if (const TokenId id = index_.Find(text); id >= 0) punctuation_.push_back(id);
    }
  }

  int Run() {
    Push(automaton_.start());
    int masks = 0;
    for (; !open_.empty() && masks < max_masks_; ++masks) {
      const TermId state = open_.front();
      open_.pop_front();
      const MaskRef* mask = automaton_.Mask(state, work_);
      if (mask == nullptr) break;
      Expand(state, **mask);
      if (!work_.ok()) break;
    }
    return masks;
  }

 private:
  static Budget BudgetOf(const WarmUpBounds& bounds, const std::atomic<bool>* cancelled) {
    Budget::Bounds budget;
    budget.wall_ms = bounds.wall_ms;
    budget.wall_name = "warm_up_ms";
    budget.cancelled = cancelled;
    return Budget(budget);
  }

  void Push(TermId state) {
    if (seen_.insert(state).second) open_.push_back(state);
  }

  void Expand(TermId state, const TokenMask& mask) {
    for (const TokenId id : punctuation_) {
      if (mask.Allows(id)) Follow(state, id);
    }
    for (const TokenId id : LongestOfFew(mask)) Follow(state, id);
  }

  void Follow(TermId state, TokenId id) {
    std::size_t taken = 0;
    const TermId next = automaton_.StepToken(state, id, &taken, work_);
    if (next != kNothingTerm && next != kFailedTerm) Push(next);
  }

  // Where few tokens are allowed, those that do not begin another one.
  std::vector<TokenId> LongestOfFew(const TokenMask& mask) const {
    const Vocabulary& vocabulary = index_.vocabulary();
    std::vector<TokenId> ids;
    const bool few = mask.VisitAllowedWhile([&](TokenId id) {
      if (!vocabulary.IsSpecial(id)) ids.push_back(id);
      return ids.size() <= kMaxNarrow;
    });
    if (!few) return {};
    std::sort(ids.begin(), ids.end(), [&](TokenId x, TokenId y) {
      return vocabulary.TokenBytes(x) < vocabulary.TokenBytes(y);
    });
    std::vector<TokenId> longest;
    for (std::size_t i = 0; i < ids.size() && longest.size() < kMaxNarrowNext; ++i) {
      const absl::string_view text = vocabulary.TokenBytes(ids[i]);
      const bool begins_next =
          i + 1 < ids.size() && vocabulary.TokenBytes(ids[i + 1]).substr(0, text.size()) == text;
      if (!begins_next) longest.push_back(ids[i]);
    }
    return longest;
  }

  Automaton& automaton_;
  const TokenIndex& index_;
  const int max_masks_;
  Budget budget_;
  Work work_;
  std::vector<TokenId> punctuation_;
  std::deque<TermId> open_;
  absl::flat_hash_set<TermId> seen_;
};

}  // namespace

int WarmUp(const CompiledGrammar& grammar, const WarmUpBounds& bounds,
           const std::atomic<bool>* cancelled) {
  return WarmUpRun(grammar, bounds, cancelled).Run();
}

void WarmUpTokenizer(const std::shared_ptr<TokenizerSpace>& tokenizer) {
  constexpr WarmUpBounds kAll = {.masks = 1'000, .wall_ms = 2'000};
  for (const char* kind : {"json", "json_object"}) {
    Budget budget = Budget::Unlimited();
    const auto grammar = CompileGrammar({kind, "", {}}, tokenizer, Limits(), budget);
    if (grammar.ok()) WarmUp(**grammar, kAll);
  }
}

}  // namespace maskd
