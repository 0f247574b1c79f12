#include "grammar_core/matcher/matcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/shortest_path.h"
#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// The budget of one call: what the grammar's limits give a step.
Budget StepBudget(const Limits& limits) {
  Budget::Bounds bounds;
  bounds.work = limits.step_derivatives;
  bounds.work_name = "step_derivatives";
  bounds.wall_ms = limits.step_ms;
  bounds.wall_name = "step_ms";
  return Budget(bounds);
}

bool Contains(const std::vector<TokenId>& ids, TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Matcher::Matcher(std::shared_ptr<const CompiledGrammar> grammar, std::vector<TokenId> stop_ids)
    : grammar_(std::move(grammar)), stop_ids_(std::move(stop_ids)) {
  states_.push_back(grammar_->automaton().start());
}

absl::Status Matcher::Accept(TokenId token) {
  const Vocabulary& vocabulary = grammar_->tokenizer().vocabulary();
  if (finished()) {
    ++finished_tokens_;
    return absl::OkStatus();
  }
  if (token < 0 || token >= vocabulary.size()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "TOKEN_OUT_OF_RANGE",
                   absl::StrCat("token ", token, " is not in [0, ", vocabulary.size(), ")"));
  }
  const std::vector<TokenId>& stops = stop_ids_.empty() ? vocabulary.stop_ids() : stop_ids_;
  if (Contains(stops, token)) {
    if (may_end()) {
      ++finished_tokens_;
      return absl::OkStatus();
    }
    // The engine would end the text on it, so only a grammar that names it may take it.
    if (!vocabulary.IsSpecial(token)) return Refused(token, WhyRefused(token, 0));
  }
  Budget budget = StepBudget(grammar_->limits());
  Work work(budget);
  std::size_t taken = 0;
  const TermId next = grammar_->automaton().StepToken(states_.back(), token, &taken, work);
  if (next == kFailedTerm) return work.error();
  if (next == kNothingTerm) return Refused(token, WhyRefused(token, taken));
  states_.push_back(next);
  return absl::OkStatus();
}

std::string Matcher::WhyRefused(TokenId token, std::size_t taken) const {
  const Vocabulary& vocabulary = grammar_->tokenizer().vocabulary();
  const std::vector<TokenId>& stops = stop_ids_.empty() ? vocabulary.stop_ids() : stop_ids_;
  if (Contains(stops, token)) return "the text may not end here";
  const absl::string_view bytes = vocabulary.TokenBytes(token);
  if (vocabulary.IsSpecial(token) || bytes.empty()) return "no special token may stand here";
  return absl::StrCat("the grammar takes ", taken, " of its ", bytes.size(), " bytes");
}

absl::Status Matcher::Refused(TokenId token, absl::string_view why) const {
  const absl::string_view text = grammar_->tokenizer().vocabulary().TokenBytes(token);
  return ErrorAt(
      absl::StatusCode::kInvalidArgument, "", "TOKEN_REFUSED",
      absl::StrCat("token ", token, " \"", absl::CHexEscape(text), "\" is refused: ", why));
}

absl::StatusOr<MaskRef> Matcher::Mask() {
  if (finished()) return MaskRef();
  Budget budget = StepBudget(grammar_->limits());
  Work work(budget);
  const MaskRef* mask = grammar_->automaton().Mask(states_.back(), work);
  if (mask == nullptr) return work.error();
  return stop_ids_.empty() ? *mask : WithOwnStopIds(**mask);
}

MaskRef Matcher::WithOwnStopIds(TokenMask mask) const {
  const Vocabulary& vocabulary = grammar_->tokenizer().vocabulary();
  for (const TokenId id : vocabulary.stop_ids()) mask.Forbid(id);
  for (const TokenId id : stop_ids_) {
    if (may_end()) {
      mask.Allow(id);
    } else {
      mask.Forbid(id);
    }
  }
  grammar_->automaton().AddNamedTokens(states_.back(), &mask);
  return std::make_shared<const TokenMask>(std::move(mask));
}

absl::Status Matcher::Rollback(int count) {
  if (count < 0 || count > token_count()) {
    return ErrorAt(absl::StatusCode::kOutOfRange, "", "ROLLBACK_OUT_OF_RANGE",
                   absl::StrCat("cannot take back ", count, " of ", token_count(), " tokens"));
  }
  const int after_end = std::min(count, finished_tokens_);
  finished_tokens_ -= after_end;
  states_.resize(states_.size() - static_cast<std::size_t>(count - after_end));
  return absl::OkStatus();
}

bool Matcher::may_end() const {
  return !finished() && grammar_->automaton().MayEnd(states_.back());
}

int Matcher::token_count() const { return static_cast<int>(states_.size()) - 1 + finished_tokens_; }

absl::StatusOr<Matcher::TextMatch> Matcher::MatchText(absl::string_view text) {
  if (finished()) return TextMatch{0, true};
  Budget budget = StepBudget(grammar_->limits());
  Work work(budget);
  std::size_t taken = 0;
  const TermId state = grammar_->automaton().StepText(states_.back(), text, &taken, work);
  if (state == kFailedTerm) return work.error();
  return TextMatch{static_cast<int>(taken), grammar_->automaton().MayEnd(state)};
}

absl::StatusOr<std::string> Matcher::ForcedBytes(int max_bytes) {
  std::string forced;
  if (finished()) return forced;
  Budget budget = StepBudget(grammar_->limits());
  Work work(budget);
  Automaton& automaton = grammar_->automaton();
  for (TermId state = states_.back();
       static_cast<int>(forced.size()) < max_bytes && !automaton.MayEnd(state);) {
    const Automaton::OnlyByte only = automaton.FindOnlyByte(state, work);
    if (!work.ok()) return work.error();
    if (!only.exists) break;
    forced.push_back(static_cast<char>(only.byte));
    state = only.next;
  }
  return forced;
}

absl::StatusOr<std::string> Matcher::ShortestCompletion(int max_bytes) {
  if (finished()) return std::string();
  Budget budget = StepBudget(grammar_->limits());
  Work work(budget);
  return maskd::ShortestCompletion(&grammar_->automaton(), states_.back(), max_bytes, work);
}

}  // namespace maskd
