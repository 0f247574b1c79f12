// The copy goes from the parts up: a term is copied when all its parts are, so their new numbers
// are known. It ends because the parts of a term are older than the term; a Call names its rule and
// does not hold the rule's body.
//
// Invariant  a copy is of the same kind, and holds the empty text exactly when its original does.
#include "grammar_core/terms/term_copy.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "grammar_core/terms/term_check.h"

namespace maskd {

template <typename Visit>
void TermCopy::VisitParts(const Term& term, Visit visit) const {
  switch (term.kind) {
    case TermKind::kCat:
      visit(AnyTerm(term.a));
      visit(AnyTerm(term.b));
      return;
    case TermKind::kAlt:
    case TermKind::kAnd:
      std::ranges::for_each(from_.store->list(term.a), visit);
      return;
    case TermKind::kRepeat:
    case TermKind::kEncode:
    case TermKind::kDistinct:
    case TermKind::kLimited:
    case TermKind::kNot:
      visit(AnyTerm(term.a));
      return;
    default:
      return;
  }
}

AnyTerm TermCopy::Of(AnyTerm id) {
  // A stack of its own. A part that two terms share may stand on it twice; it is copied once.
  std::vector<AnyTerm> open = {id};
  while (!open.empty()) {
    const AnyTerm next = open.back();
    if (IsCopied(next)) {
      open.pop_back();
      continue;
    }
    const Term& term = from_.store->term(next);
    const std::size_t before = open.size();
    VisitParts(term, [&](AnyTerm part) {
      if (!IsCopied(part)) open.push_back(part);
    });
    if (open.size() > before) continue;  // its parts come first
    open.pop_back();
    copies_.emplace(next, Copy(next));
  }
  return CopyOf(id);
}

AnyTerm TermCopy::Copy(AnyTerm id) {
  const Term& term = from_.store->term(id);
  Term copy = term;
  std::vector<AnyTerm> list;
  switch (term.kind) {
    case TermKind::kCat:
      copy.a = CopyOf(AnyTerm(term.a)).value();
      copy.b = CopyOf(AnyTerm(term.b)).value();
      break;
    case TermKind::kAlt:
    case TermKind::kAnd:
      VisitParts(term, [&](AnyTerm part) { list.push_back(CopyOf(part)); });
      break;
    case TermKind::kRepeat:
    case TermKind::kDistinct:
    case TermKind::kLimited:
    case TermKind::kNot:
      copy.a = CopyOf(AnyTerm(term.a)).value();
      break;
    case TermKind::kEncode:
      copy.a = CopyOf(AnyTerm(term.a)).value();
      if (term.c != kNoObject) CopyPlace(&copy.c, &copy.d);
      break;
    // From here on a payload that is no term: an index into a table that each store fills in its
    // own order.
    case TermKind::kByteSet:
      copy.a = to_.store->AdoptByteSet(*from_.store, term.a);
      break;
    case TermKind::kNumber:
      copy.b = to_.numbers->Adopt(*from_.numbers, term.a, term.b);
      break;
    case TermKind::kObject:
    case TermKind::kNameSet:
      CopyPlace(&copy.a, &copy.b);
      break;
    case TermKind::kTextSet:
      // Sets of the IR have the same number everywhere. The others are names of an object.
      if (term.a >= from_.store->ir().text_sets.size())
        copy.a = to_.objects->AdoptNames(*from_.objects, term.a);
      break;
    default:
      break;  // their payload is of the IR
  }
  const AnyTerm made = to_.store->Adopt(*from_.store, id, copy, std::move(list));
  MASKD_DCHECK_TERM(*to_.store, made, to_.store->term(made).kind == term.kind);
  MASKD_DCHECK_TERM(*to_.store, made, to_.store->term(made).nullable == term.nullable);
  return made;
}

// The progress is asked for by the object's number there, so that number is replaced last.
void TermCopy::CopyPlace(std::uint32_t* object, std::uint32_t* progress) {
  const TermStore::PlacedObject place = from_.store->placed_object(*object);
  const std::uint32_t placed = to_.store->PlaceObject(place.object, place.depth);
  *progress = to_.objects->AdoptProgress(*from_.objects, *object, placed, *progress);
  *object = placed;
}

}  // namespace maskd
