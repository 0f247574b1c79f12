// A key is kept where a mask asks for many parts to make it again. The key of a spine is that of
// its first cell and of its tail, so it is made from those of a few cells, down to a spine that
// keeps its own. A repeat is one step above its body, a string one or two above its characters.
//
// Invariant  which terms keep their keys follows from what they are, in every store alike.
// Cost       a key that is not kept: at most kCellsAKey cells, each one or two mixes of kept keys.
#include <array>
#include <cassert>
#include <cstddef>

#include "grammar_core/terms/term_store.h"

namespace maskd {

void TermStore::Append(const Made& term) {
  const bool is_made = term.kind == TermKind::kCat || term.kind == TermKind::kRepeat ||
                       (term.kind == TermKind::kEncode && term.c == kNoObject);
  if (!KeepsKey(term))
    keys_.AppendWithout();
  else
    keys_.Append(is_made ? MadeKey(term) : term.key);
  ways_.Append();
  masks_.Append();
  terms_.Append() = term;
}

bool TermStore::KeepsKey(const Term& term) const {
  switch (term.kind) {
    case TermKind::kCat:
      return term.cells() % kCellsAKey == 0;
    case TermKind::kRepeat:
      return !keys_.Has(term.a);
    // A repeat that keeps no key is one step above a body that does.
    case TermKind::kEncode:
      return term.c != kNoObject ||
             (!keys_.Has(term.a) && terms_[term.a].kind != TermKind::kRepeat);
    default:
      return true;
  }
}

Hash96 TermStore::MadeKey(const Term& term) const {
  if (term.kind == TermKind::kRepeat) {
    const Hash128 body = Mix(Seed(TermKind::kRepeat), KeyOf(AnyTerm(term.a)));
    return Mix(Mix(body, ClampCount(term.b)), ClampCount(term.c));
  }
  if (term.kind == TermKind::kEncode)
    return Mix(Mix(Seed(TermKind::kEncode), KeyOf(AnyTerm(term.a))), term.b);
  assert(term.kind == TermKind::kCat);
  std::array<AnyTerm, kCellsAKey> heads;
  std::size_t count = 0;
  AnyTerm tail(term.b);
  heads[count++] = AnyTerm(term.a);
  while (At(tail).kind == TermKind::kCat && !keys_.Has(tail.value())) {
    assert(count < heads.size());
    heads[count++] = AnyTerm(At(tail).a);
    tail = AnyTerm(At(tail).b);
  }
  Hash96 key = KeyOf(tail);
  while (count > 0) key = Mix(Mix(Seed(TermKind::kCat), KeyOf(heads[--count])), key);
  return key;
}

}  // namespace maskd
