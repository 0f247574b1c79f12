// The states of one row: those of its grammar's automaton and, within arrays whose items must
// differ, the row's own beside them (row_memory.h). All that takes a row further goes through this.
//
// Cost      where the grammar has no such arrays, that of the automaton itself.
// Copies    share what the row has written.
// Errors    by Work, as with Automaton.
// Threads   as Automaton; copies may live in different threads.
#ifndef MASKD_GRAMMAR_CORE_ROWS_ROW_STATES_H_
#define MASKD_GRAMMAR_CORE_ROWS_ROW_STATES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/named_tokens.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// The states of one row: what takes a row further, whether or not it has its own states.
class RowStates {
 public:
  using State = RowMemory::State;

  // A row that begins in `automaton`, and has written nothing.
  explicit RowStates(std::shared_ptr<MaskedAutomaton> automaton)
      : automaton_(std::move(automaton)),
        memory_(automaton_->tables().remembers() ? std::make_shared<RowMemory>(automaton_.get())
                                                 : nullptr) {}

  // The same row in `automaton`, another one of its grammar: each of `states` becomes what it is
  // there. States of this that are not among them have no meaning there.
  [[nodiscard]] RowStates MovedTo(std::shared_ptr<MaskedAutomaton> automaton,
                                  std::span<State> states) const;

  // What the row shares with all rows of its automaton.
  [[nodiscard]] MaskedAutomaton& automaton() const { return *automaton_; }
  [[nodiscard]] const std::shared_ptr<MaskedAutomaton>& shared_automaton() const {
    return automaton_;
  }
  // Where every row of the automaton begins.
  [[nodiscard]] State start() const { return RowMemory::Of(automaton_->start()); }
  // Whether `state` says something in this row and its forks only.
  [[nodiscard]] static bool IsOwn(State state) { return RowMemory::IsOwn(state); }

  // As long as it lives, states that are made are for a while (see RowMemory::Scratch).
  class Scratch {
   public:
    // Nothing, where the row has no own states.
    explicit Scratch(const RowStates& states) : scratch_(states.memory_.get()) {}

   private:
    RowMemory::Scratch scratch_;
  };

  // The state behind `byte`: kNothingTerm if there is none, kFailedTerm if `work` failed.
  State Take(State state, unsigned char byte, Work& work) const {
    return memory_ == nullptr ? StepShared(state, byte, work) : TakeOwn(state, byte, work);
  }
  // The same for whoever tries texts to their end: see row_step.h.
  State TakeUnsearched(State state, unsigned char byte, Work& work) const;
  State TakeForSearch(State state, unsigned char byte, Work& work) const;
  // See Automaton::StepText(), Automaton::StepToken() and Automaton::AtTokenEnd().
  State StepText(State state, absl::string_view text, std::size_t* taken, Work& work) const;
  State StepToken(State state, TokenId id, std::size_t* taken, Work& work) const;
  [[nodiscard]] State AtTokenEnd(State state) const {
    // Own states count no tokens.
    return IsOwn(state) ? state : RowMemory::Of(automaton_->AtTokenEnd(RowMemory::TermOf(state)));
  }

  // The classes of bytes that `state` may take, and perhaps more; meaningless when `work` failed.
  [[nodiscard]] FirstClasses::Set FirstOf(State state, Work& work) const;

  // The one byte that `state` takes, if it takes just one, and no token by name; meaningless when
  // `work` failed.
  struct OnlyByte {
    bool exists = false;
    unsigned char byte = 0;
    State next = kNothingTerm;
  };
  // Looks at up to 256 bytes.
  OnlyByte FindOnlyByte(State state, Work& work) const;

  // The state of the automaton that takes what `state` does and what the row's items forbid.
  [[nodiscard]] TermId Shared(State state) const {
    return IsOwn(state) ? SharedOf(state) : RowMemory::TermOf(state);
  }
  // Whether the text may end there, and a lower bound of what completes it.
  [[nodiscard]] bool MayEnd(State state) const { return automaton_->MayEnd(Shared(state)); }
  [[nodiscard]] std::uint32_t MinBytes(State state) const {
    return automaton_->MinBytes(Shared(state));
  }
  // Equal for states that look alike to one token.
  [[nodiscard]] Hash128 KeyOf(State state) const;

  // For closing. What the value or name that is being written may become and may not, each as far
  // as it is raw text. Whether what follows is certainly the inside of a string.
  [[nodiscard]] std::vector<std::string> TakenRests(State state) const;
  [[nodiscard]] bool InString(State state) const;
  // What is written of the string or name at hand, decoded; empty where none is.
  [[nodiscard]] std::string BegunText(State state) const;
  // See RowMemory.
  [[nodiscard]] bool MayRepeat(State state) const;
  [[nodiscard]] bool MayRepeatBehind(State state, unsigned char byte) const;

  // The tokens allowed in `state`; null if `work` failed.
  [[nodiscard]] MaskRef Mask(State state, Work& work) const;

  // See Automaton.
  void AddNamedTokens(State state, TokenMask* mask) const {
    StateTerms(*automaton_).AddNamedTokens(Shared(state), mask);
  }
  [[nodiscard]] std::vector<NamedTokens::Step> NamedSteps(State state) const {
    return StateTerms(*automaton_).NamedSteps(Shared(state));
  }
  // What the grammar has that a row must heed, the unit of its lower bounds, and its classes of
  // bytes.
  [[nodiscard]] bool names_tokens() const { return automaton_->tables().names_tokens(); }
  [[nodiscard]] bool limits_tokens() const { return automaton_->tables().limits_tokens; }
  [[nodiscard]] Measure measure() const { return automaton_->tables().measure(); }
  [[nodiscard]] const ByteClasses& classes() const { return automaton_->classes(); }

  // What the row has written, roughly.
  [[nodiscard]] std::int64_t held_bytes() const {
    return memory_ == nullptr ? 0 : memory_->held_bytes();
  }

 private:
  // For a row that has no own states.
  State StepShared(State state, unsigned char byte, Work& work) const {
    return RowMemory::Of(automaton_->Step(RowMemory::TermOf(state), byte, work));
  }
  State TakeOwn(State state, unsigned char byte, Work& work) const;
  [[nodiscard]] TermId SharedOf(State state) const;

  RowStates(std::shared_ptr<MaskedAutomaton> automaton, std::shared_ptr<RowMemory> memory)
      : automaton_(std::move(automaton)), memory_(std::move(memory)) {}

  std::shared_ptr<MaskedAutomaton> automaton_;
  std::shared_ptr<RowMemory> memory_;  // where the automaton remembers nothing: null
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_ROW_STATES_H_
