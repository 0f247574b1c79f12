// One sequence's place in a grammar: takes tokens, says which may come next, takes them back.
//
//   Matcher matcher(grammar);
//   absl::StatusOr<MaskRef> mask = matcher.Mask();
//   absl::Status taken = matcher.Accept(token);     // OK exactly if mask allowed `token`
//
// Ending     A stop id is allowed exactly where the text may end. After it the matcher is finished:
//            further tokens are OK and change nothing but the count Rollback() takes back, and
//            Mask() is null ("full": apply nothing).
//            A stop id that the grammar names is taken as such where the text may not end.
// Errors     A refused token leaves the matcher as it was. RESOURCE_EXHAUSTED (a step over its
//            budget, a text that nests deeper than one row may) hurts this matcher's call only; the
//            shared grammar stays usable.
// Moves      where its automaton is full, a call first goes on in the grammar's next one
//            (rows/generations.h). Nothing that a caller sees depends on it.
// Masks      live as long as their references. Those that come again are one object with a number
//            (TokenMask::serial()); one that own stop ids change is made for the call and has none.
// Cost       Accept: one table read a byte once the way is known. Rollback and Fork: constant time
//            a token and a fork; but a rollback past the last 32 to 64 tokens before a move takes
//            the tokens that are left once more. Mask: one reference counted.
// Memory     sizeof(Matcher), a stepper that forks share until one moves, and 8.5 bytes a token
//            from the 64th on, which forks share. Within
//            arrays of distinct items some 250 bytes a token, which forks share and a rollback
//            keeps.
// Hides      the automaton: no header of the engine's rooms is seen by who includes this one
//            (tools/dev/check_hidden_headers.py).
// Threads    one thread at a time; any number of matchers share a grammar.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_MATCHER_H_
#define MASKD_GRAMMAR_CORE_MATCHER_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/drafts.h"
#include "grammar_core/matcher/forced_tokens.h"
#include "grammar_core/matcher/prefetch_place.h"
#include "grammar_core/matcher/token_history.h"

namespace maskd {

class TokenStepper;

// One sequence, from its first token to its end.
class Matcher {
 public:
  // `stop_ids` empty: the vocabulary's own. They must be in range.
  explicit Matcher(std::shared_ptr<const CompiledGrammar> grammar,
                   std::vector<TokenId> stop_ids = {});

  // Takes one token. Errors: OUT_OF_RANGE (no such id), INVALID_ARGUMENT (the grammar refuses it;
  // the message has the token's text), RESOURCE_EXHAUSTED.
  absl::Status Accept(TokenId token);

  // The tokens allowed next; never all-zero. Null when finished. Errors:
  // RESOURCE_EXHAUSTED; UNAVAILABLE by `new_masks`.
  [[nodiscard]] absl::StatusOr<MaskRef> Mask(NewMasks new_masks = NewMasks::kMade) const;

  // The masks of all positions of a draft; the matcher stays as it was. Errors: those of
  // FillDraft().
  absl::Status MaskDraft(const Draft& draft, DraftMasks* masks,
                         NewMasks new_masks = NewMasks::kMade) const;

  // Takes back the last `count` tokens, over the end too. Errors: OUT_OF_RANGE past the start; or
  // those of Accept(), where tokens are taken once more.
  absl::Status Rollback(int count);

  // Goes on in the grammar's current automaton if its own is full, for a matcher that is not called
  // for long: as long as it does not, the memory of its automaton is not given back.
  void Rest() const;

  // An independent matcher at the same place.
  [[nodiscard]] Matcher Fork() const { return *this; }

  // Whether a stop id is allowed now.
  [[nodiscard]] bool may_end() const;
  // Whether a stop id has been taken.
  [[nodiscard]] bool finished() const { return finished_tokens_ > 0; }
  // The tokens that end the text, ascending. Valid as stepper() is.
  [[nodiscard]] const std::vector<TokenId>& stop_ids() const;
  // Tokens taken, those after the end included.
  [[nodiscard]] int token_count() const { return history_.size() + finished_tokens_; }
  // What the histories of this process's matchers and the items of their distinct arrays hold,
  // sizeof(Matcher) apart.
  static std::int64_t LiveBytes();
  // What a matcher holds beside that and itself, unless it shares it with a fork.
  static std::int64_t StepperBytes();
  // For narrower masks (closing.h), whose callers hand it on unseen. Valid until the next call that
  // may move the matcher, which is any that can fail, and Rest().
  [[nodiscard]] const TokenStepper& stepper() const { return *stepper_; }
  // Where the matcher stands, unless it is finished. A place means nothing after such a call.
  [[nodiscard]] RowStateId place() const { return RowStateId(history_.state()); }
  [[nodiscard]] const CompiledGrammar& grammar() const;
  // Whether the grammar takes tokens by their names, as the marker that ends a call.
  [[nodiscard]] bool names_tokens() const;

  // What `place`, a place of this matcher, is known by to a prefetch; nothing where only this row
  // and its forks know it.
  [[nodiscard]] std::optional<PrefetchPlace::Key> PrefetchKey(RowStateId place) const;
  // The place itself, to be prefetched behind while the matcher goes on.
  [[nodiscard]] PrefetchPlace PrefetchAt(RowStateId place) const;

  // How many bytes of `text` can be taken from here, and whether the text may end after all of
  // them. Where tokens of a part are counted, or the grammar names tokens, as the text is cut into
  // tokens at best; a token that it names stands for its spelling. The matcher stays as it was.
  // Errors: RESOURCE_EXHAUSTED.
  struct TextMatch {
    int matched_bytes;
    bool may_end;
  };
  absl::StatusOr<TextMatch> MatchText(absl::string_view text);

  // The same of a text of which all bytes can be taken: how many of them lead to places from which
  // it can be complete with `max_characters` characters in all, counted from here. Errors:
  // RESOURCE_EXHAUSTED; UNIMPLEMENTED where the text goes through a token that the grammar names.
  [[nodiscard]] absl::StatusOr<TextMatch> MatchWithinCharacters(absl::string_view text,
                                                                int max_characters) const;

  // How many bytes the first `max_tokens` tokens of `text` spell, if it is cut into as few as can
  // be; all of them where it has no more.
  [[nodiscard]] std::size_t BytesOfTokens(absl::string_view text, int max_tokens) const;

  // The bytes that must come next whatever the choice, at most `max_bytes`; empty at a choice or
  // where the text may end.
  absl::StatusOr<std::string> ForcedBytes(int max_bytes);

  // The same in tokens. Errors: RESOURCE_EXHAUSTED.
  [[nodiscard]] absl::StatusOr<ForcedTokens> FindForcedTokens(int max_bytes) const;

  // The shortest byte string that completes the text from here. Errors: RESOURCE_EXHAUSTED when it
  // is longer than `max_bytes`.
  absl::StatusOr<std::string> ShortestCompletion(int max_bytes);
  // No completion has fewer bytes.
  [[nodiscard]] std::uint32_t LeastBytes() const;

  // No completion has fewer tokens. Here and below the stop id is not counted.
  [[nodiscard]] int LeastTokens() const;
  // Tokens that complete the text: those of the shortest byte string, and the fewest of all.
  // Errors: RESOURCE_EXHAUSTED when there are none of at most so many bytes or tokens, or the
  // search for the fewest meets the budget of a step (completion/fewest_tokens.h).
  [[nodiscard]] absl::StatusOr<std::vector<TokenId>> FewTokens(int max_bytes) const;
  [[nodiscard]] absl::StatusOr<std::vector<TokenId>> FewestTokens(int max_tokens) const;

 private:
  explicit Matcher(std::shared_ptr<const TokenStepper> stepper);
  // Runs `call`, of which Work is the budget, and once more in an empty automaton where it needs
  // more than its own has left.
  template <typename Call>
  absl::Status Run(NewMasks new_masks, Call call) const;
  template <typename Call>
  absl::Status Run(Call call) const {
    return Run(NewMasks::kMade, call);
  }
  // The same of a call that has a result.
  template <typename Result, typename Call>
  absl::StatusOr<Result> Get(Call call) const;
  void MoveTo(std::shared_ptr<MaskedAutomaton> automaton) const;
  // As if only the first `count` tokens had been taken.
  absl::Status TakeAgain(int count);

  // A move changes how they are written, not what they mean. The stepper is never null, and never
  // changed, as forks share it: who moves takes another one. It stands behind the history's end,
  // which each call reads.
  mutable TokenHistory history_;
  mutable std::shared_ptr<const TokenStepper> stepper_;
  int finished_tokens_ = 0;  // the stop id and what came after it
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_MATCHER_H_
