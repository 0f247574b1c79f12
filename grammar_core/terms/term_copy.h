// Takes states of one automaton over into another one of the same grammar.
//
// A state is a term, a description that means the same in every store of its grammar; only the
// numbers in it are the store's own: those of its parts, of an object's progress, of a number's
// state. So a copy has the parts' copies in their places and all else as it is.
//
// Cost     each term once, however many states have it: some 100 ns. No recursion: a spine may have
//          any number of cells.
// Threads  one thread, which holds the locks of both automatons.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_COPY_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_COPY_H_

#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Copies states from one automaton to another; what was copied once is remembered as long as this
// lives.
class TermCopy {
 public:
  // Where terms are taken from, and where they are made. All must outlive the copy.
  struct Source {
    const TermStore* store;
    const ObjectTerms* objects;
    const NumberTerms* numbers;
  };
  // Each is the same part of the other automaton.
  struct Target {
    TermStore* store;
    ObjectTerms* objects;
    NumberTerms* numbers;
  };
  // Of two automatons of one grammar.
  TermCopy(const Source& from, const Target& to) : from_(from), to_(to) {}

  // The state `id`, as one of the target.
  TermId Of(TermId id) { return TermId(Of(AnyTerm(id))); }

 private:
  // Calls visit(part) for each term that `term` is made of.
  template <typename Visit>
  void VisitParts(const Term& term, Visit visit) const;
  [[nodiscard]] bool IsCopied(AnyTerm id) const {
    return id == kNothingTerm || id == kEmptyTerm || copies_.contains(id);
  }
  [[nodiscard]] AnyTerm CopyOf(AnyTerm id) const {
    return id == kNothingTerm || id == kEmptyTerm ? id : copies_.at(id);
  }
  AnyTerm Of(AnyTerm id);
  // A term whose parts are copied.
  AnyTerm Copy(AnyTerm id);
  // Copies an object's place: its progress, and then its number.
  void CopyPlace(std::uint32_t* object, std::uint32_t* progress);

  const Source from_;
  const Target to_;
  absl::flat_hash_map<AnyTerm, AnyTerm> copies_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_COPY_H_
