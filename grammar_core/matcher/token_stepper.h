// What tokens do in the states of one row, under one choice of stop ids. Matchers, drafts and
// forced tokens are made of it; it keeps no place itself.
//
// Threads  copies share what they were made of, and may live in different threads.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_TOKEN_STEPPER_H_
#define MASKD_GRAMMAR_CORE_MATCHER_TOKEN_STEPPER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/work.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/token_history.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// The budget of one call: what the grammar's limits give a step.
Budget StepBudget(const Limits& limits);

// What tokens do in the states of a row: never changed once it is made, so forks share it.
class TokenStepper {
 public:
  using State = RowStateId;

  // `stop_ids` empty: the vocabulary's own. They must be in range.
  TokenStepper(std::shared_ptr<const CompiledGrammar> grammar, std::vector<TokenId> stop_ids);

  // The same for a row that begins again, in `automaton`, of the same grammar.
  [[nodiscard]] TokenStepper Restarted(std::shared_ptr<MaskedAutomaton> automaton) const;
  // The same for a row that goes on in `automaton`, see RowStates::MovedTo().
  [[nodiscard]] TokenStepper MovedTo(std::shared_ptr<MaskedAutomaton> automaton,
                                     std::span<State> states) const;

  // What became of a token.
  enum class Outcome : std::uint8_t {
    kMoved,       // to `next`
    kEnded,       // a stop id where the text may end
    kOutOfRange,  // no such token
    kMayNotEnd,   // a stop id where the text may not end
    kNotText,     // a special token that the grammar does not name here, or one without bytes
    kRefused,     // the grammar takes only `taken_bytes` of it
    kFailed,      // see `work`
  };
  // An outcome with what belongs to it.
  struct Step {
    Outcome outcome;
    State next = {};
    std::size_t taken_bytes = 0;
  };
  // What `token` does in `state`.
  [[nodiscard]] Step Take(State state, TokenId token, Work& work) const;

  // The error of a step that is neither kMoved nor kEnded: OUT_OF_RANGE, INVALID_ARGUMENT with the
  // token's text, or that of `work`.
  [[nodiscard]] absl::Status ErrorOf(const Step& step, TokenId token, const Work& work) const;

  // The tokens allowed in `state`; null if `work` failed. A stored mask, unless this stepper's own
  // stop ids change it.
  [[nodiscard]] MaskRef Mask(State state, Work& work) const;

  // Whether a stop id may be taken in `state`.
  [[nodiscard]] bool MayEnd(State state) const;
  // For completions.
  [[nodiscard]] TokenSearch search() const;
  // The tokens that end the text, ascending.
  [[nodiscard]] const std::vector<TokenId>& stop_ids() const;
  // Whether `token` is one of them.
  [[nodiscard]] bool IsStop(TokenId token) const;
  [[nodiscard]] const CompiledGrammar& grammar() const { return *grammar_; }
  [[nodiscard]] const std::shared_ptr<const CompiledGrammar>& shared_grammar() const {
    return grammar_;
  }
  // The states of the row that this steps; copies share what it has written.
  [[nodiscard]] const RowStates& states() const { return states_; }
  // States are those of the automaton of this number, and of no other.
  [[nodiscard]] std::uint64_t automaton_serial() const { return states_.automaton().serial(); }
  [[nodiscard]] const Vocabulary& vocabulary() const { return grammar_->tokenizer().vocabulary(); }

 private:
  [[nodiscard]] bool HasOwnStopIds(const TokenMask& mask, bool may_end) const;
  [[nodiscard]] MaskRef WithOwnStopIds(State state, TokenMask mask, bool may_end) const;

  std::shared_ptr<const CompiledGrammar> grammar_;
  RowStates states_;
  std::shared_ptr<const std::vector<TokenId>> own_stop_ids_;  // ascending; null: the vocabulary's
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TOKEN_STEPPER_H_
