// An automaton of a grammar: states are byte terms, made when first met and then shared.
//
// Full      it only grows. Once it holds so much that it is full() rows go on in another automaton
//           of the grammar (generations.h), with copies of their states.
// Live      every state reached from start() has a completion: dead ends are never entered.
// Masks     are made above it, by MaskedAutomaton; here is only the place where each is kept.
// Views     what routes to masks and rows ask of its states is in StateTerms, what it holds in
//           AutomatonSize.
// Threads   any number of threads at once. Known transitions and masks are read without a lock;
//           what is new is made under one lock of this grammar.
// Items     states and steps do not know that the items of an array must differ: each row keeps
//           what it has written beside them (see RowStates). A state knows only that its last byte
//           has begun such an array.
// Errors    by Work: RESOURCE_EXHAUSTED for a step's budget or a limit of the grammar. A step that
//           fails is not known afterwards. Steps of its parts that were made on the way stay: they
//           are right, and other rows may use them.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"

#include "grammar_core/automaton/grammar_tables.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/byte_derivative.h"
#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/derivatives/named_tokens.h"
#include "grammar_core/derivatives/text_derivative.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// States and steps of one grammar over one vocabulary, shared by all rows of a generation.
class Automaton {
 public:
  // The grammar's IR and `vocabulary` must outlive the automaton. It is full once it has learnt
  // more than `full_bytes`, its masks included. The states that it adopts are not counted, nor are
  // they by Limits::terms and Limits::grammar_bytes: they belong to the rows that bring them, of
  // which Limits::row_cells bounds each.
  Automaton(std::shared_ptr<const GrammarTables> tables, const Vocabulary* vocabulary,
            const Limits& limits, std::int64_t full_bytes);
  // Before the first byte.
  [[nodiscard]] TermId start() const { return start_; }

  // Whether it holds as much as it should, or may: another one is to be used. Stays true.
  [[nodiscard]] bool full() const { return full_.load(std::memory_order_relaxed); }
  // No other automaton of the process has this number.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }

  // Puts in the place of each state, one of `from`, what it is here. `from` is another automaton of
  // the same grammar; nobody takes states from this one over to `from` at the same time.
  void Adopt(const Automaton& from, std::span<TermId> states)
      ABSL_LOCKS_EXCLUDED(mutex_, from.mutex_);

  // The state behind `byte`: kNothingTerm if there is none, kFailedTerm if `work` failed.
  TermId Step(TermId state, unsigned char byte, Work& work) {
    const int byte_class = classes_.Of(byte);
    const TermId known = derivative_.Known(state, byte_class);
    if (known != kUnknownTerm) [[likely]]
      return known;
    return MakeStep(state, byte_class, work);
  }

  // Takes `text` as far as it goes; `*taken` is how many bytes that was. The state behind
  // them, or kFailedTerm.
  TermId StepText(TermId state, absl::string_view text, std::size_t* taken, Work& work);

  // The state behind token `id`, taken by its bytes or, where the grammar names it, whole:
  // kNothingTerm if neither, kFailedTerm if `work` failed. `*taken` is how many of its bytes the
  // grammar takes.
  TermId StepToken(TermId state, TokenId id, std::size_t* taken, Work& work);

  // The state behind the last byte of a token as one between tokens.
  TermId AtTokenEnd(TermId state) {
    return limits_tokens_ && store_.term(state).in_limited ? MakeTokenEnd(state) : state;
  }

  // Whether the text may end in `state`.
  [[nodiscard]] bool MayEnd(TermId state) const { return store_.term(state).nullable; }
  // Lower bound of the bytes that complete the text from `state`.
  [[nodiscard]] std::uint32_t MinBytes(TermId state) const { return store_.term(state).min_bytes; }
  // The classes of bytes that `state` may take, and perhaps more. Meaningless where `work` failed.
  [[nodiscard]] FirstClasses::Set FirstOf(TermId state, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

  // What its states are made of, and what it was made from.
  [[nodiscard]] const TermStore& store() const { return store_; }
  [[nodiscard]] const ByteClasses& classes() const { return classes_; }
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }
  [[nodiscard]] const GrammarTables& tables() const { return *tables_; }

 protected:
  // For who keeps masks of the states (masked_automaton.h): which of them is that of `state`, see
  // TermStore::mutable_mask().
  [[nodiscard]] std::atomic<TermStore::MaskNumber>& mask_slot(TermId state) {
    return store_.mutable_mask(state);
  }
  // So many bytes of masks more are kept, and who keeps them holds so many itself.
  void CountMasks(std::int64_t more_bytes, std::int64_t keeper_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Its views: what else is asked of it.
  friend class StateTerms;
  friend class AutomatonSize;

  static std::int64_t own_bytes();
  [[nodiscard]] int ClassOf(char byte) const {
    return classes_.Of(static_cast<unsigned char>(byte));
  }
  [[nodiscard]] int ClassAt(const TokenRest& rest) const {
    return ClassOf(vocabulary_->TokenBytes(static_cast<TokenId>(rest.id()))[rest.offset()]);
  }
  void Retire() { full_.store(true, std::memory_order_relaxed); }
  TermId WithoutDistinct(TermId state) ABSL_LOCKS_EXCLUDED(mutex_);
  TermId MakeStep(TermId state, int byte_class, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);
  // As StepText(), by the bytes of token `id`.
  TermId StepBytes(TermId state, TokenId id, std::size_t* taken, Work& work);
  // Where `bytes`, those of token `id`, lead from `state`, which byte `*taken` of them comes to: by
  // all that are left, or by the next one. `*taken` counts what leads on.
  TermId MakeRest(TermId state, TokenId id, absl::string_view bytes, std::size_t* taken, Work& work)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The state behind a byte of a class. The rests that are known at `state` move on first.
  TermId TakeClass(TermId state, int byte_class, Work& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps where a rest leads, at the state or, where texts part at it, further on.
  void PutRest(TermId state, const TokenRest& rest, TermId to, Work& work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBehindByte(TermId state, const TokenRest& rest, TermId to, Work& work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves the rests that are known at `state` a byte on, to where their next bytes lead.
  void SplitRests(TermId state, Work& work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  TermId MakeTokenEnd(TermId state) ABSL_LOCKS_EXCLUDED(mutex_);
  // Something was made; states and their ways now hold so much.
  void NoteGrowth(std::int64_t derivative_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> full_ = false;  // first: every call of a row looks at it
  const std::shared_ptr<const GrammarTables> tables_;
  const Vocabulary* const vocabulary_;
  const std::uint64_t serial_;
  const ByteClasses classes_;
  TermStore store_;
  mutable Mutex mutex_;
  // What makes terms needs the lock; what only reads them does not.
  NumberTerms numbers_;
  Lowering lowering_;
  ObjectTerms objects_;
  CharDerivative characters_;
  ByteDerivative derivative_;
  TextDerivative texts_;
  std::int64_t full_bytes_ ABSL_GUARDED_BY(mutex_);
  std::int64_t mask_keeper_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  TermId start_ = kNothingTerm;
  const bool limits_tokens_;
  std::atomic<std::int64_t> held_bytes_ = 0;
  std::atomic<std::int64_t> mask_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_
