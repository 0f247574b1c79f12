// Tokens that a grammar names by their ids or as special tokens: which may come next, and what
// follows one.
//
// A Tokens term takes a token whole, whatever its bytes; all other terms take a token byte by byte.
// A token that both ways take leads to the union of their targets.
//
// Errors   INVALID_ARGUMENT at the place of a name that the vocabulary does not have, of an id out
//          of its range, or of a set that holds no token.
// Threads  reading is free; what makes terms needs the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_NAMED_TOKENS_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_NAMED_TOKENS_H_

#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/work.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/mask_builder.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// The tokens of one vocabulary that a grammar names, by their ids.
class NamedTokens {
 public:
  // Looks up each name of `ir`. Errors: INVALID_ARGUMENT with the place of a name or an id that
  // `vocabulary` does not have; by `budget`.
  static absl::StatusOr<NamedTokens> Resolve(const GrammarIr& ir, const Vocabulary& vocabulary,
                                             Budget& budget);

  // Whether the grammar names no token at all.
  [[nodiscard]] bool none() const { return sets_.empty(); }

  // Adds the named tokens that `state` takes to `mask`. Few of them leave a builder's parts apart.
  void AddTo(TermId state, const TermStore& store, Lowering* lowering, TokenMask* mask) const;
  void AddTo(TermId state, const TermStore& store, Lowering* lowering, MaskBuilder* mask) const;

  // What follows token `id` where it is taken by name; kNothingTerm where it is not.
  TermId Behind(TermId state, TokenId id, TermStore* store, Lowering* lowering) const;

  // The same of every token that `state` takes by name: those that no set tells apart as one.
  struct Step {
    TokenMask tokens;
    TermId next;
  };
  // Makes terms, so it needs the automaton's lock.
  std::vector<Step> Steps(TermId state, TermStore* store, Lowering* lowering) const;

  // Bytes of the sets: one mask for each token spec, and the ids of the small ones.
  [[nodiscard]] std::int64_t held_bytes() const {
    return HeldBytes(sets_, [](const TokenMask& set) { return set.held_bytes(); }) +
           HeldBytes(few_, [](const std::vector<TokenId>& ids) { return HeldBytes(ids); });
  }

 private:
  // Calls visit(index) for each set of tokens that `state` may begin with.
  template <typename Visit>
  static void VisitSets(TermId state, const TermStore& store, Lowering* lowering, Visit visit);

  explicit NamedTokens(std::vector<TokenMask> sets);

  std::vector<TokenMask> sets_;            // by index into GrammarIr::token_specs
  std::vector<std::vector<TokenId>> few_;  // the same sets; empty for one of many tokens
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_NAMED_TOKENS_H_
