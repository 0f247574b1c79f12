// What routes to masks and rows ask of an automaton beside its steps: states made of other states,
// the terms within a state, tokens that are taken by name.
//
// Threads  as Automaton: each call takes the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_STATE_TERMS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_STATE_TERMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/count_bounds.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/named_tokens.h"
#include "grammar_core/mask/mask_builder.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// A view of one automaton, made where it is asked: it holds a reference alone.
class StateTerms {
 public:
  // `automaton` must outlive this.
  explicit StateTerms(Automaton& automaton) : automaton_(automaton) {}

  // `head` before `tail`.
  [[nodiscard]] TermId Join(TermId head, TermId tail) const;
  // Any of `branches`.
  [[nodiscard]] TermId Choice(const std::vector<TermId>& branches) const;
  // The characters `text`, spelled so, before `tail`.
  [[nodiscard]] TermId Encoded(CharTerm text, Spelling spelling, TermId tail) const;
  // The body of the rule that a Call term `cell` calls.
  [[nodiscard]] TermId BodyOf(TermId cell) const;
  // An Encode term `cell` of characters of one set, as if there could be any number of them.
  [[nodiscard]] TermId WithoutBound(TermId cell) const;
  // The And term `both` without its part `part`.
  [[nodiscard]] CharTerm Without(CharTerm both, CharTerm part) const;
  // Simpler terms of characters around `text`, see count_bounds.h.
  [[nodiscard]] std::optional<CountBounds> BoundsOf(CharTerm text) const;
  // ask(search) of what texts are left for many conditions.
  template <typename Ask>
  bool AskConditions(Ask ask) const {
    const MutexLock lock(&automaton_.mutex_);
    return ask(automaton_.characters_.search());
  }
  // The texts of an Encode term `cell` of a NameSet, and the term at the end of name `name`.
  [[nodiscard]] ObjectTerms::NameTexts NamesOf(TermId cell, Work& work) const;
  [[nodiscard]] TermId EndOfName(TermId cell, std::uint32_t name, Work& work) const;
  // What follows the quote behind that end, as spines, the first one first.
  [[nodiscard]] std::vector<TermId> BehindName(TermId cell, std::uint32_t name, Work& work) const;

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
  [[nodiscard]] std::optional<Beyond> StepBeyondAscii(TermId state, Work& work) const;

  // A shortest text of an Encode term `cell` of several conditions, where all its characters are
  // plain. Nothing for other cells, and where that is not soon found.
  [[nodiscard]] std::optional<std::string> ShortestText(TermId cell, Work& work) const;

  // See NumberLanguage::TextToMultiple(), of a Number term `cell`. Nothing for other cells.
  [[nodiscard]] std::optional<std::string> TextToMultiple(TermId cell) const;

  // `state` as if its last byte had not begun an array of distinct items; and of that only what is
  // within it, and what is not: each may be kNothingTerm.
  [[nodiscard]] TermId WithoutDistinct(TermId state) const;
  struct Split {
    TermId inside;
    TermId outside;
  };
  // Makes both.
  [[nodiscard]] Split SplitDistinct(TermId state) const;

  // A simpler state, where there is one, that takes the same bytes and no token by its name: what
  // stands behind such a token in its first cells is left out, as no bytes lead there. Else
  // `state`: also where the first cell has no such token.
  [[nodiscard]] TermId TextBeforeNames(TermId state) const;
  // Adds the tokens that the grammar names and `state` takes by that.
  void AddNamedTokens(TermId state, TokenMask* mask) const;
  void AddNamedTokens(TermId state, MaskBuilder* mask) const;
  // See NamedTokens::Steps().
  [[nodiscard]] std::vector<NamedTokens::Step> NamedSteps(TermId state) const;
  // The state behind token `id` where it is taken by its name, else kNothingTerm.
  [[nodiscard]] TermId BehindNamed(TermId state, TokenId id) const;

 private:
  Automaton& automaton_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_STATE_TERMS_H_
