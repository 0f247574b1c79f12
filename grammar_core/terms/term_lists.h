// Lists of terms, each kept once: the branches of choices and the parts of intersections.
//
// Layout   side by side in blocks that grow with what there is; before each list its length.
// Threads  Keep() needs the automaton's lock; a list is read without it by a number that was
//          published.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_LISTS_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_LISTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/hash/hash.h"

#include "grammar_core/base/index_table.h"
#include "grammar_core/base/stable_vector.h"
#include "grammar_core/base/tight_blocks.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// By numbers. A list never moves.
class TermLists {
 public:
  using List = std::span<const AnyTerm>;

  TermLists() = default;
  TermLists(const TermLists&) = delete;
  TermLists& operator=(const TermLists&) = delete;

  [[nodiscard]] List operator[](std::uint32_t number) const {
    const AnyTerm* const length = places_[number];
    return {length + 1, length->value()};
  }
  // The number of the list with these terms.
  std::uint32_t Keep(List list) {
    const auto [known, hash] = numbers_.Find(list);
    if (known != IndexTable<ByTerms>::kNone) return known;
    numbers_.Add(hash);
    AnyTerm* const place = blocks_.Allocate(1 + list.size());
    *place = AnyTerm(static_cast<std::uint32_t>(list.size()));
    std::ranges::copy(list, place + 1);
    places_.Append() = place;
    return places_.size() - 1;
  }

  [[nodiscard]] std::int64_t held_bytes() const {
    return places_.chunk_bytes() + numbers_.held_bytes() + blocks_.held_bytes();
  }

 private:
  struct ByTerms {
    const TermLists* lists;
    std::size_t operator()(List list) const { return absl::HashOf(absl::MakeConstSpan(list)); }
    std::size_t operator()(std::uint32_t number) const { return (*this)((*lists)[number]); }
    bool operator()(std::uint32_t x, List y) const { return std::ranges::equal((*lists)[x], y); }
  };

  TightBlocks<AnyTerm> blocks_;
  StableVector<const AnyTerm*, 2, 4> places_;
  IndexTable<ByTerms> numbers_{ByTerms{this}};
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_LISTS_H_
