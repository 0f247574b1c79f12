// Derivatives of byte terms: the state behind one byte. Every one is computed once and kept with
// the term (see way_tables.h).
//
// Depth    recursion is bounded by Limits::derivative_depth, which GrammarFacts has checked.
// Threads  Known() by any thread; Step() under the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_DERIVATIVE_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_DERIVATIVE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/derivatives/first_classes.h"
#include "grammar_core/derivatives/way_tables.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The steps of one automaton's states.
class ByteDerivative {
 public:
  // All must outlive this.
  ByteDerivative(TermStore* store, NumberTerms* numbers, ObjectTerms* objects,
                 CharDerivative* characters, Lowering* lowering, const ByteClasses* classes,
                 const Limits& limits);

  // The transition if it is known, else kUnknownTerm. No lock.
  [[nodiscard]] TermId Known(TermId term, int byte_class) const {
    return WaysOf(term).To(byte_class);
  }

  // All that is known of the way on from `term`. No lock.
  [[nodiscard]] StateWays WaysOf(TermId term) const {
    return StateWays(store_->ways(term).load(std::memory_order_acquire));
  }
  // See WayTables::PutRest().
  bool PutRest(TermId term, const TokenRest& rest, TermId to) {
    return ways_.PutRest(term, rest, to);
  }

  // The transition, computed if need be. kFailedTerm when `work` is spent or a limit of the grammar
  // is met; nothing is kept then.
  TermId Step(TermId term, int byte_class, Work& work);

  // `next`, just made, if its making is within `work` and it is not too deep for a row; else
  // kFailedTerm.
  TermId Within(TermId next, Work& work);

  // The byte classes that a term may take, and perhaps more. Where it begins with a string, its
  // ASCII characters are exact, so that a search need not try all.
  FirstClasses::Set FirstOf(TermId term, Work& work);

  // What there is of terms, transitions and tables.
  struct Size {
    std::int64_t terms = 0;
    std::int64_t bytes = 0;
  };
  // As of now; what rows have adopted included.
  [[nodiscard]] Size size() const { return {store_->size(), held_bytes()}; }
  // What has come since `before` belongs to rows: limits do not count it.
  void NoteAdopted(const Size& before);
  [[nodiscard]] const Size& adopted() const { return adopted_; }

  // How much of what this may hold is left, in terms and bytes: 1 for all, 0 for nothing.
  [[nodiscard]] double room() const;
  [[nodiscard]] std::int64_t held_bytes() const;
  // The same by kind: they add up to it.
  [[nodiscard]] std::vector<HeldPart> parts() const;
  // The same, or what it was a few terms ago: a step asks for it several times.
  std::int64_t RecentBytes();

 private:
  // Terms that may come before bytes are added up again.
  static constexpr std::uint32_t kUncountedTerms = 16;

  TermId Derive(TermId term, int byte_class, Work& work);
  // The same, and that the result is not too deep for a row; kFailedTerm if `work` failed.
  TermId DeriveWithin(TermId term, int byte_class, Work& work) {
    return Within(Derive(term, byte_class, work), work);
  }
  // What the cells of a spine lead to, as far as those before may be empty; what a choice leads to.
  // `step_cell` and `step_branch` are the step of one of them.
  template <typename StepCell>
  TermId DeriveSpine(TermId term, StepCell step_cell);
  template <typename StepBranch>
  TermId DeriveAlt(const Term& alt, StepBranch step_branch);
  TermId DeriveEncode(const Term& term, unsigned char byte, Work& work);
  // Keeps the transitions by plain ASCII characters of a string, all that are unknown.
  void FillCharacters(TermId id, Work& work);
  TermId DerivePartial(const Term& term, const PartialChar& partial, const CharEdges& edges);
  // An Encode term like `term`, of other characters.
  TermId EncodeLike(const Term& term, CharTerm characters, const PartialChar& partial,
                    std::uint32_t partial_bytes = 0);
  bool WithinLimits(Work& work);

  TermStore* store_;
  NumberTerms* numbers_;
  ObjectTerms* objects_;
  CharDerivative* characters_;
  Lowering* lowering_;
  const ByteClasses* classes_;
  const Limits limits_;
  FirstClasses first_;
  WayTables ways_;
  Size adopted_;
  std::int64_t recent_bytes_ = 0;
  std::uint32_t counted_until_ = 0;  // terms
  std::size_t counted_ways_ = 0;     // as ways_.held_words()
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_DERIVATIVE_H_
