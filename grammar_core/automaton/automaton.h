// An automaton of a grammar: states are byte terms, made when first met and then shared.
//
// Full      it only grows. Once it holds so much that it is full() rows go on in another automaton
//           of the grammar (generations.h), with copies of their states.
// Live      every state reached from start() has a completion: dead ends are never entered.
// Masks     are made above it, by MaskedAutomaton; here is only the place where each is kept.
// Threads   any number of threads at once. Known transitions and masks are read without a lock;
//           what is new is made under one lock of this grammar.
// Items     that the items of an array must differ is no matter to states and steps: each row keeps
//           what it has written beside them (see RowStates). A state knows only that its last byte
//           has begun such an array.
// Errors    by Work: RESOURCE_EXHAUSTED for a step's budget or a limit of the grammar. A step that
//           fails is not known afterwards. Steps of its parts that were made on the way stay: they
//           are right, and other rows may use them.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"

#include "grammar_core/automaton/count_bounds.h"
#include "grammar_core/automaton/grammar_tables.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/byte_derivative.h"
#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/derivatives/named_tokens.h"
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
  [[nodiscard]] TermId start() const { return start_; }

  // Whether it holds as much as it should, or may: another one is to be used. Stays true.
  [[nodiscard]] bool full() const { return full_.load(std::memory_order_relaxed); }
  // Says that it is full.
  void Retire() { full_.store(true, std::memory_order_relaxed); }
  // Sets what it may hold.
  void set_full_bytes(std::int64_t full_bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // No other automaton of the process has this number.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }

  // Puts in the place of each state, one of `from`, what it is here. `from` is another automaton of
  // the same grammar; nobody takes states from this one over to `from` at the same time.
  void Adopt(const Automaton& from, std::span<TermId> states)
      ABSL_LOCKS_EXCLUDED(mutex_, from.mutex_);

  // The state behind `byte`: kNothingTerm if there is none, kFailedTerm if `work` failed.
  TermId Step(TermId state, unsigned char byte, Work& work) {
    const TermId known = derivative_.Known(state, classes_.Of(byte));
    return known != kUnknownTerm ? known : MakeStep(state, classes_.Of(byte), work);
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
  // Whether a part of the grammar has a bound of tokens.
  [[nodiscard]] bool limits_tokens() const { return limits_tokens_; }

  // Whether the text may end in `state`.
  [[nodiscard]] bool MayEnd(TermId state) const { return store_.term(state).nullable; }
  // What MinBytes() counts.
  [[nodiscard]] Measure measure() const { return tables_->facts.measure(); }
  // Lower bound of the bytes that complete the text from `state`.
  [[nodiscard]] std::uint32_t MinBytes(TermId state) const { return store_.term(state).min_bytes; }
  [[nodiscard]] const Term& term(TermId state) const { return store_.term(state); }
  [[nodiscard]] const TermStore& store() const { return store_; }
  [[nodiscard]] const ByteClasses& classes() const { return classes_; }
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Where the mask of `state` is kept, once made; null before. It is for who makes masks
  // (masked_automaton.h).
  [[nodiscard]] std::atomic<const MaskRef*>& mask_slot(TermId state) {
    return store_.mutable_links(state).mask;
  }
  // Who keeps masks for the states keeps so many bytes of masks more, and holds so many itself.
  void CountMasks(std::int64_t more_bytes, std::int64_t keeper_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // What the characters beyond ASCII lead to, and whether each leads somewhere; the spaces among
  // them (SpacesBeyondAscii()) apart. Nothing for a state that does not begin with whole characters
  // alone.
  struct Beyond {
    // Where the characters of one part lead to, each target once; `all`: none of them leads
    // nowhere.
    struct Part {
      std::vector<TermId> targets;
      bool all = false;
    };
    Part spaces;
    Part others;
  };
  // Costs one look at the edges of the state's characters; meaningless when `work` failed.
  std::optional<Beyond> StepBeyondAscii(TermId state, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

  // A shortest text of an Encode term `cell` of several conditions, where all its characters are
  // plain. Nothing for other cells, and where that is not soon found.
  std::optional<std::string> ShortestText(TermId cell, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

  // For MaskMaker: states that `state` is made of.
  //
  // `head` before `tail`.
  TermId Join(TermId head, TermId tail) ABSL_LOCKS_EXCLUDED(mutex_);
  // Any of `branches`.
  TermId Choice(const std::vector<TermId>& branches) ABSL_LOCKS_EXCLUDED(mutex_);
  // The characters `text`, spelled so, before `tail`.
  TermId Encoded(CharTerm text, Spelling spelling, TermId tail) ABSL_LOCKS_EXCLUDED(mutex_);
  // The And term `both` without its part `part`.
  CharTerm Without(CharTerm both, CharTerm part) ABSL_LOCKS_EXCLUDED(mutex_);
  // Simpler terms of characters around `text`, see count_bounds.h.
  std::optional<CountBounds> BoundsOf(CharTerm text) ABSL_LOCKS_EXCLUDED(mutex_);
  // For ConditionStates: ask(search) of what texts are left for many conditions.
  template <typename Ask>
  bool AskConditions(Ask ask) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(&mutex_);
    return ask(characters_.search());
  }
  // The texts of an Encode term `cell` of a NameSet, and the term at the end of name `name`.
  ObjectTerms::NameTexts NamesOf(TermId cell, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);
  TermId EndOfName(TermId cell, std::uint32_t name, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

  // For searches: the classes of bytes that `state` may take, and perhaps more. Meaningless where
  // `work` failed.
  [[nodiscard]] FirstClasses::Set FirstOf(TermId state, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

  // For RowMemory: the same state as if its last byte had not begun an array of distinct items, and
  // of that only what is within it, and what is not; the bounds of a row.
  [[nodiscard]] TermId WithoutDistinct(TermId state) ABSL_LOCKS_EXCLUDED(mutex_);
  struct Split {
    TermId inside;
    TermId outside;
  };
  // Each may be kNothingTerm.
  [[nodiscard]] Split SplitDistinct(TermId state) ABSL_LOCKS_EXCLUDED(mutex_);
  // What one row may hold and search for such arrays.
  [[nodiscard]] const RowBounds& row_bounds() const { return tables_->row_bounds; }

  // Adds the tokens that the grammar names and `state` takes by that.
  void AddNamedTokens(TermId state, TokenMask* mask) ABSL_LOCKS_EXCLUDED(mutex_);

  // See NamedTokens::Steps().
  std::vector<NamedTokens::Step> NamedSteps(TermId state) ABSL_LOCKS_EXCLUDED(mutex_);

  // The state behind token `id` where it is taken by its name, else kNothingTerm.
  TermId BehindNamed(TermId state, TokenId id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the grammar takes token `id` by its bytes where they fit: neither a special token nor a
  // marker of the grammar's formats.
  [[nodiscard]] bool IsText(TokenId id) const {
    return !vocabulary().IsSpecial(id) && !IsMarker(id) && !vocabulary().TokenBytes(id).empty();
  }
  // The tokens that it takes by name alone, ascending, and whether `id` is one.
  [[nodiscard]] std::span<const TokenId> markers() const { return tables_->markers; }
  [[nodiscard]] bool IsMarker(TokenId id) const {
    return std::ranges::binary_search(tables_->markers, id);
  }

  // Whether the grammar names any token.
  [[nodiscard]] bool names_tokens() const { return !tables_->named_tokens.none(); }

  // Whether rows are to remember what they write (see RowStates); if so, the tokens to look at.
  [[nodiscard]] bool remembers() const { return remembers_; }
  [[nodiscard]] const ItemTokens& item_tokens() const { return *tables_->item_tokens; }

  // Terms made so far, of characters too. No lock.
  [[nodiscard]] std::int64_t terms() const { return store_.size(); }
  // How much of what it may hold is left: 1 for all, 0 for nothing.
  [[nodiscard]] double room() const ABSL_LOCKS_EXCLUDED(mutex_);
  // As of the last mask that was made, or up to a few states later: terms, transitions and tables;
  // and the masks that it keeps alive, of which others may be owners too. No lock.
  [[nodiscard]] std::int64_t held_bytes() const {
    return held_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t mask_bytes() const {
    return mask_bytes_.load(std::memory_order_relaxed);
  }

 private:
  TermId MakeStep(TermId state, int byte_class, Work& work) ABSL_LOCKS_EXCLUDED(mutex_);
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
  std::int64_t full_bytes_ ABSL_GUARDED_BY(mutex_);
  std::int64_t mask_keeper_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  TermId start_ = kNothingTerm;
  const bool remembers_;
  const bool limits_tokens_;
  std::atomic<std::int64_t> held_bytes_ = 0;
  std::atomic<std::int64_t> mask_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_AUTOMATON_H_
