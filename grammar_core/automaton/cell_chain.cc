#include "grammar_core/automaton/cell_chain.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace maskd {
namespace {

constexpr std::uint64_t kEndOfText = 0x656E64;

// A chain is looked up only after so many cells: 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on. Masks that
// depend on a few cells less are kept for a few cells more, and a deep stack costs few look-ups.
bool IsStop(std::uint32_t cells) {
  constexpr std::uint32_t kThree = 3;
  if (cells % kThree == 0) cells = cells / kThree;
  return std::has_single_bit(cells);
}

// Calls visit(chain key, cells below it) at each stop, behind the last cell, and for the end of the
// text (with kNoEnd for the cells), until it returns false.
template <typename Visit>
void VisitChain(const TermStore& store, TermId state, Visit visit) {
  Hash128 chain;
  for (std::uint32_t cells = 1;; ++cells) {
    const Term& term = store.term(state);
    if (term.kind != TermKind::kCat) {
      chain = Mix(chain, term.key);
      break;
    }
    chain = Mix(chain, store.term(term.a).key);
    if (IsStop(cells) && !visit(chain, store.term(term.b).cells)) return;
    state = term.b;
  }
  if (visit(chain, 0)) visit(Mix(chain, kEndOfText), kNoEnd);
}

}  // namespace

MaskRef CellChain::Find(MaskStore* masks, std::uint32_t* floor) {
  MaskRef found;
  known_stops_ = 0;
  VisitChain(store_, state_, [&](const Hash128& chain, std::uint32_t below) {
    MaskStore::Known known = masks->Find(chain);
    found = std::move(known.mask);
    // The last cell alone, or with the end of the text behind it: more than no cell, or less.
    if (found != nullptr) *floor = std::min(*floor, below == 0 ? 1 : below == kNoEnd ? 0 : below);
    known_stops_ += known.deeper ? 1 : 0;
    return known.deeper;
  });
  return found;
}

void CellChain::Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const {
  int stop = 0;
  VisitChain(store_, state_, [&](const Hash128& chain, std::uint32_t below) {
    if (stop++ < known_stops_) return true;
    const bool settles = below == kNoEnd || (below <= floor && floor > 0);
    masks->Settle(chain, settles ? mask : nullptr);
    return !settles;
  });
}

}  // namespace maskd
