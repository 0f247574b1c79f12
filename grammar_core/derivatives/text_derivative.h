// The state behind a whole text, without the states within it.
//
// A token that is taken for the first time has some bytes, and rows are asked only for the state
// behind the last one. So a text goes on from cell to cell, and the spine of what follows is made
// once, at its end. Names and literal bytes are passed without a cell for each character.
//
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_TEXT_DERIVATIVE_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_TEXT_DERIVATIVE_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/byte_derivative.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Steps of one automaton's states by texts.
class TextDerivative {
 public:
  // All must outlive this.
  TextDerivative(TermStore* store, ObjectTerms* objects, ByteDerivative* bytes,
                 const ByteClasses* classes)
      : store_(*store), objects_(*objects), bytes_(*bytes), classes_(*classes) {}

  // The state behind `text`: kNothingTerm if there is none, kFailedTerm if `work` failed.
  // `*taken` is how many of its bytes lead on.
  TermId Behind(TermId state, absl::string_view text, std::size_t* taken, Work& work);

  // Whether the states within a text are worth sparing: not inside of a string, where most bytes
  // lead back to where they came from.
  [[nodiscard]] bool Spares(TermId state) const;

 private:
  // What follows a cell: spines, the next one last.
  using Tails = std::vector<TermId>;
  // A cell before what follows it.
  struct Place {
    TermId cell;
    Tails tails;
  };

  // `head`, which is not Nothing, before `tails`.
  [[nodiscard]] Place At(TermId head, Tails tails) const;
  TermId Joined(const Place& place);
  // The place behind one byte; a cell of Nothing or Failed where there is none.
  Place Step(Place place, unsigned char byte, Work& work);
  // Goes along as much of `text` as the cell itself has spelt out, and more than one byte; returns
  // how much that is.
  std::size_t Skip(Place* place, absl::string_view text, Work& work);
  std::size_t SkipBytes(Place* place, absl::string_view text);
  std::size_t SkipCounted(Place* place, absl::string_view text);
  [[nodiscard]] bool EndsByOther(const Place& place, absl::string_view text) const;
  std::size_t SkipName(Place* place, absl::string_view text, Work& work);

  TermStore& store_;
  ObjectTerms& objects_;
  ByteDerivative& bytes_;
  const ByteClasses& classes_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_TEXT_DERIVATIVE_H_
