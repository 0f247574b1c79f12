// Derivatives of character terms: for each next character, the term of what may follow.
//
// Layout   edge lists (char_edges.h) are made once a term and kept.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_CHAR_DERIVATIVE_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_CHAR_DERIVATIVE_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "grammar_core/base/stable_vector.h"
#include "grammar_core/base/work.h"
#include "grammar_core/intersection/char_edges.h"
#include "grammar_core/intersection/condition_search.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Derivatives of character terms: what each next character leads to, and whether any text is left.
class CharDerivative final : public CharEdgeSource {
 public:
  // Both must outlive this. An emptiness check visits at most `max_emptiness_states` terms.
  CharDerivative(TermStore* store, ObjectTerms* objects, std::int64_t max_emptiness_states)
      : store_(store),
        objects_(objects),
        max_states_(max_emptiness_states),
        search_(store, this, max_emptiness_states) {}

  // The edges of `term`, whose targets may turn out to be Nothing.
  const CharEdges& Edges(CharTerm term, Work& work) override;
  // The edges of `term` that lead to a string. Empty when `work` fails: RESOURCE_EXHAUSTED.
  const CharEdges& LiveEdges(CharTerm term, Work& work);
  // What one character leads to, by those edges; kNothingTerm where there is none. No edges of
  // an object's names are kept by it, as a text takes one of them. Meaningless when `work` failed.
  CharTerm Behind(CharTerm term, std::uint32_t character, Work& work);

  // Whether `term` holds no string. Decided by a search for a nullable derivative, of intersections
  // by that of ConditionSearch; remembered.
  bool IsNothing(CharTerm term, Work& work);

  // How many strings `term` holds; `enough` stands for that many and more.
  std::int64_t CountTexts(CharTerm term, std::int64_t enough, Work& work);

  // What intersections are asked by.
  ConditionSearch& search() { return search_; }

  // Bytes of edges, fates and of the search.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  CharEdges Derive(CharTerm term, Work& work);
  CharEdges DeriveCat(CharTerm term, Work& work);
  // For a choice or an intersection; `join` makes one term of the parts' targets.
  template <typename Join>
  CharEdges DeriveParts(const Term& term, Work& work, Join join);
  CharEdges DeriveTextSet(CharTerm term) const;
  CharEdges DeriveNames(CharTerm term, Work& work) const;

  enum class Fate : std::uint8_t { kNotKnown, kNothing, kLive };
  // What is known of a term, in its link: the edges, by numbers of lists, the same one twice where
  // all are live; and its fate.
  struct Known {
    std::uint64_t all : 31 = kNotMade;
    std::uint64_t live : 31 = kNotMade;
    std::uint64_t fate : 2 = 0;  // a Fate
  };
  static constexpr std::uint32_t kNotMade = 0;  // lists are numbered from 1 on
  [[nodiscard]] Known KnownOf(CharTerm term) const {
    return std::bit_cast<Known>(store_->link(term));
  }
  void SetKnown(CharTerm term, Known known) {
    store_->set_link(term, std::bit_cast<std::uint64_t>(known));
  }
  [[nodiscard]] Fate FateOf(CharTerm term) const { return static_cast<Fate>(KnownOf(term).fate); }
  void SetFate(CharTerm term, Fate fate);
  [[nodiscard]] const CharEdges& ListAt(std::uint32_t number) const { return lists_[number - 1]; }

  // The number of a list.
  std::uint32_t Keep(CharEdges edges);
  // Those that lead to a string, where they were asked for before; else null.
  [[nodiscard]] const CharEdges* KnownLiveEdges(CharTerm term) const;

  TermStore* store_;
  ObjectTerms* objects_;
  const std::int64_t max_states_;
  ConditionSearch search_;
  StableVector<CharEdges, 2, 4> lists_;
  std::int64_t list_bytes_ = 0;  // what they hold
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_CHAR_DERIVATIVE_H_
