// States as a token leaves them, and without what only a row knows: both keep all of a state but
// its first cells, which a choice may hold, and share the rest. Cost: the terms that are rewritten.
#include <algorithm>
#include <utility>
#include <vector>

#include "grammar_core/terms/term_store.h"

namespace maskd {

// Only what a byte has gone through is touched: the first cells of the ways, which a choice or one
// that may be left out (a repeat of at most one) may hold.
// limited(3, x), touched, becomes limited(2, x); untouched it keeps its 3. With 0 left and x able
// to be empty it ends here. It recurs only into what is touched, so untouched terms cost nothing.
TermId TermStore::AtTokenEnd(TermId id, std::uint32_t most) {
  const Term& term = At(id);
  if (!term.in_limited) return id;
  switch (term.kind) {
    case TermKind::kLimited: {
      // A text inside another one is cut with it, so it never has more tokens left than that one.
      const std::uint32_t left = std::min(most, term.b - (term.b > 0 ? term.c : 0));
      const TermId text = AtTokenEnd(TermId(term.a), left);
      return left == 0 && At(text).nullable ? kEmptyTerm : Limited(text, {.left = left});
    }
    case TermKind::kCat:
      return Cat(AtTokenEnd(TermId(term.a), most), TermId(term.b));
    case TermKind::kRepeat:
      return Repeat(AtTokenEnd(TermId(term.a), most), term.b, term.c);
    default: {
      std::vector<TermId> branches;
      for (const AnyTerm branch : lists_[term.a])
        branches.push_back(AtTokenEnd(TermId(branch), most));
      return Alt(branches);
    }
  }
}

// (distinct(x) | y)z becomes (x | y)z, or xz for what is inside alone, or yz for what is outside.
// Only an array that has just begun is unwrapped: all that follows keeps its Distinct cells.
TermId TermStore::WithoutDistinct(TermId id, Within within) {
  const Term& term = At(id);
  if (!term.in_distinct) return within == Within::kInside ? kNothingTerm : id;
  if (term.kind == TermKind::kDistinct)
    return within == Within::kOutside ? kNothingTerm : WithoutDistinct(TermId(term.a));
  if (term.kind == TermKind::kCat)
    return Cat(WithoutDistinct(TermId(term.a), within), TermId(term.b));
  std::vector<TermId> branches;
  for (const AnyTerm branch : lists_[term.a])
    branches.push_back(WithoutDistinct(TermId(branch), within));
  return Alt(branches);
}

}  // namespace maskd
