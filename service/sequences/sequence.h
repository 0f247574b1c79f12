// One row in use: the tokens it has taken, its reasoning gate, its place in its grammar.
//
// Phases   reasoning, until the gate's end has been taken; then the grammar's text; then its end.
//          A row without a gate begins in the text.
// Tokens   taken exactly if the mask of position 0 allows them: in reasoning any token of the
//          vocabulary, or the end's next one when the budget is spent; in the text what the grammar
//          takes; after the end any.
// Budget   with so many tokens left the masks lead to a complete text within them, wherever there
//          is one (grammar_core/matcher/closing.h): reasoning is ended while there is room for the
//          end and for the shortest text, and the text is closed. A grammar's own bound of
//          tokens (GrammarOptions::max_tokens) is one of the text, and is never passed: where a
//          text has reached it and cannot end, the row is at a dead end. Its bound of
//          characters (max_characters) holds before all others: no mask leads past it, from the
//          first token on (grammar_core/matcher/character_masks.h).
// Observed rows are only read: no mask, any token is taken, a stop id ends one. Neither grammar nor
//          bounds forbid anything.
// Errors   a refused token or rollback leaves the sequence as it was.
// Cost     Rollback and a copy (a fork): constant time a token and a copy.
// Threads  one thread at a time; copies are independent.
#ifndef MASKD_SERVICE_SEQUENCES_SEQUENCE_H_
#define MASKD_SERVICE_SEQUENCES_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/grammar_cache.h"
#include "grammar_core/base/row_state.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_history.h"
#include "service/sequences/reasoning_gate.h"

namespace maskd::service {

// The state of a row before or after some draft tokens.
struct SequencePosition {
  // What may come at the position.
  enum class State : std::uint8_t {
    kMasked,    // `mask` says what may come next
    kFree,      // reasoning, or a row that is only read: nothing to mask
    kFinished,  // the text has ended: nothing to mask
    kInvalid,   // a draft token on the way to it is refused
  };
  State state = State::kInvalid;
  bool may_end = false;
  MaskRef mask = nullptr;
  int text_tokens = -1;         // of the text, before this position; -1 in reasoning
  int token_count = 0;          // of the row, before this position
  std::int64_t characters = 0;  // of the text, before this position; where they have a bound
  RowStateId place = {};        // in the grammar, of a masked position of the text
};

// What came of a draft whose masks could not all be made.
struct FailedMasks {
  absl::Status error;
  DraftMasks made;  // before that
};

// What a row is opened with beside its grammar.
struct SequenceOptions {
  std::vector<TokenId> stop_ids = {};                   // empty: the vocabulary's
  std::shared_ptr<const ReasoningGate> gate = nullptr;  // null: none
  int min_tokens = 0;  // of the text: it may not end before, unless nothing else can come
  // Shared by the rows of one automaton in one stream; null: this row makes its own.
  std::shared_ptr<ClosingMasks> closing = nullptr;
  bool observe = false;  // not beside a gate
};

// One row in use.
class Sequence {
 public:
  // A row that has taken nothing.
  Sequence(const cache::GrammarPtr& grammar, const SequenceOptions& options);

  // Errors: those of Matcher::Accept().
  absl::Status Take(TokenId token);
  // Takes back the last `count` tokens, over the end and the reasoning's end too. Errors:
  // OUT_OF_RANGE past the start.
  absl::Status Rollback(int count);
  // Says how many tokens the row may still take, its end included. Tokens taken and taken back
  // count from here.
  void SetRemaining(int tokens);
  // Nothing: no bound. Never below 0.
  [[nodiscard]] std::optional<int> remaining() const;

  // The positions of `draft`, see grammar_core/matcher/drafts.h; with an empty one the row's own
  // alone. The sequence stays as it was. Errors:
  //   RESOURCE_EXHAUSTED  positions not made yet are invalid; at a dead end the first one is
  //   INVALID_ARGUMENT    parents that are no tree: there are no positions
  //   UNAVAILABLE         by `new_masks`: positions mean nothing
  // `failed`, which may be null, is what MakeMasks() has just said of this draft: it is not tried
  // again.
  absl::Status FillPositions(const Draft& draft, std::vector<SequencePosition>* positions,
                             NewMasks new_masks = NewMasks::kMade,
                             const FailedMasks* failed = nullptr) const;

  // Has those masks of the grammar made that FillPositions() will ask for, where the row is in its
  // text. Null: they are there. Threads: other rows of the stream may be in here at the same time,
  // forks among them; no other call of this row.
  [[nodiscard]] std::unique_ptr<const FailedMasks> MakeMasks(const Draft& draft) const;

  // What must come next whatever the model says: in the text what the grammar leaves, in reasoning
  // the end when the budget is spent. Errors: RESOURCE_EXHAUSTED.
  [[nodiscard]] absl::StatusOr<ForcedTokens> FindForced(int max_bytes) const;

  // Whether the text has not begun; whether it has ended.
  [[nodiscard]] bool reasoning() const { return !text_begin_.has_value(); }
  [[nodiscard]] bool finished() const { return matcher_.finished() || observed_end_.has_value(); }
  [[nodiscard]] bool observed() const { return is_observed_; }
  // Tokens taken, those of the reasoning and those after the end included.
  [[nodiscard]] int token_count() const { return history_.size(); }
  [[nodiscard]] std::vector<TokenId> tokens() const { return history_.LastTokens(token_count()); }
  [[nodiscard]] const CompiledGrammar& grammar() const { return matcher_.grammar(); }
  // Whose places those of positions are.
  [[nodiscard]] const Matcher& matcher() const { return matcher_; }
  // See Matcher::Rest().
  void Rest() const { matcher_.Rest(); }

 private:
  struct Walk;

  absl::Status TakeReasoning(TokenId token);
  absl::Status TakeObserved(TokenId token);
  absl::Status FillObserved(const Draft& draft, std::vector<SequencePosition>* positions) const;
  // What one token does to a place of the reasoning; nothing when it is refused.
  [[nodiscard]] std::optional<ReasoningGate::Place> NextPlace(ReasoningGate::Place place,
                                                              int token_count, TokenId token) const;
  absl::Status FillText(const Draft& draft, NewMasks new_masks, const FailedMasks* failed,
                        std::vector<SequencePosition>* positions) const;
  void AddDraft(const Draft& draft, const DraftMasks& masks,
                std::vector<SequencePosition>* positions) const;
  absl::Status FillMixed(const Draft& draft, NewMasks new_masks,
                         std::vector<SequencePosition>* positions) const;
  void StepInReasoning(TokenId token, std::size_t before, std::size_t at, Walk* walk,
                       std::vector<SequencePosition>* positions) const;
  void FillReasoning(ReasoningGate::Place place, int token_count, SequencePosition* position) const;
  // Sets what `position` has before it, `token` behind those of `before`.
  void CountBehind(const SequencePosition& before, TokenId token, SequencePosition* position) const;
  // Takes away what budgets forbid, and the drafts that use it. Errors: RESOURCE_EXHAUSTED, and the
  // positions not looked at are invalid.
  absl::Status Narrow(const Draft& draft, NewMasks new_masks,
                      std::vector<SequencePosition>* positions) const;
  absl::Status NarrowOne(NewMasks new_masks, SequencePosition* position) const;
  // The mask of the row's own position, for the token that comes: it was made when the row was
  // asked for it, as a rule.
  [[nodiscard]] absl::StatusOr<MaskRef> NarrowedMask() const;
  void HoldMinimum(SequencePosition* position) const;
  [[nodiscard]] bool narrows() const;
  // Tokens that may follow so many of the text and of the row, the end included; nothing: no bound.
  [[nodiscard]] std::optional<std::int64_t> TokensLeft(int text_tokens, int token_count) const;
  absl::Status CheckNarrowed(TokenId token) const;
  absl::Status CheckCharacters(TokenId token) const;
  // Characters of the text so far, and with one more token; 0 where they have no bound.
  [[nodiscard]] std::int64_t characters() const { return reasoning() ? 0 : history_.state(); }
  [[nodiscard]] std::int64_t CharactersOf(TokenId token) const;
  void PlanClosing();
  [[nodiscard]] bool MustEndReasoning(int token_count) const;
  // Null when nothing is left.
  [[nodiscard]] MaskRef WithoutStops(TokenMask mask) const;
  [[nodiscard]] bool IsStop(TokenId token) const;
  [[nodiscard]] int text_tokens() const { return token_count() - text_begin_.value_or(0); }

  Matcher matcher_;
  std::shared_ptr<const ReasoningGate> gate_;
  int min_tokens_;
  std::optional<int> max_tokens_;  // of the text, its end not counted
  std::optional<std::int64_t> max_characters_;
  // Every token, with the gate's place behind it as its state; in the text its characters so far.
  TokenHistory history_;
  std::optional<int> text_begin_;  // the tokens of reasoning, once it has ended
  bool is_observed_;
  std::optional<int> observed_end_;  // the tokens up to a stop id, its own included
  std::shared_ptr<ClosingMasks> closing_;
  std::optional<std::int64_t> token_limit_;  // the token_count() at which none is left
  int closing_tokens_ = 0;  // of the reasoning's end, the shortest text and its end
  // The mask of the row's own position that was made last, until the row moves.
  mutable std::weak_ptr<const TokenMask> narrowed_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_SEQUENCE_H_
