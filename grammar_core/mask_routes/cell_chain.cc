#include "grammar_core/mask_routes/cell_chain.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_views.h"

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
void VisitChain(const TermStore& store, TermId state, Hash128 chain, Visit visit) {
  for (std::uint32_t cells = 1;; ++cells) {
    const Term& term = store.term(state);
    if (term.kind != TermKind::kCat) {
      chain = Mix(chain, store.KeyOf(state));
      break;
    }
    // Keys, not ids: the store is shared by automatons that number their terms differently.
    const auto [head, tail] = AsCat(term);
    chain = Mix(chain, store.KeyOf(head));
    MASKD_DCHECK_TERM(store, state, store.term(tail).cells() < term.cells());  // so the walk ends
    if (IsStop(cells) && !visit(chain, store.term(tail).cells())) return;
    state = tail;
  }
  if (visit(chain, 0)) visit(Mix(chain, kEndOfText), kNoEnd);
}

}  // namespace

template <typename FindChain>
void CellChain::FindBy(FindChain find, std::uint32_t* floor) {
  // Goes on as long as the store says that somebody has needed more cells than these.
  known_stops_ = 0;
  VisitChain(store_, state_, seed_, [&](const Hash128& chain, std::uint32_t below) {
    const auto [settles, deeper] = find(chain);
    // The last cell alone, or with the end of the text behind it: more than no cell, or less.
    if (settles) *floor = std::min(*floor, below == 0 ? 1 : below == kNoEnd ? 0 : below);
    known_stops_ += deeper ? 1 : 0;
    return deeper;
  });
}

template <typename SettleChain>
void CellChain::SettleBy(SettleChain settle, std::uint32_t floor) const {
  // Up to where the look-up got the store already knows that more cells are needed.
  int stop = 0;
  VisitChain(store_, state_, seed_, [&](const Hash128& chain, std::uint32_t below) {
    if (stop++ < known_stops_) return true;
    // The first beginning that has every cell which was read; all shorter ones say "go on".
    const bool settles = below == kNoEnd || (below <= floor && floor > 0);
    settle(chain, settles);
    return !settles;
  });
}

MaskRef CellChain::Find(MaskStore* masks, std::uint32_t* floor) {
  MaskRef found;
  FindBy(
      [&](const Hash128& chain) {
        MaskStore::Known known = masks->Find(chain);
        found = std::move(known.mask);
        return std::pair(found != nullptr, known.deeper);
      },
      floor);
  return found;
}

void CellChain::Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const {
  SettleBy(
      [&](const Hash128& chain, bool settles) { masks->Settle(chain, settles ? mask : nullptr); },
      floor);
}

std::optional<Hash128> CellChain::FindSignature(MaskStore* masks, std::uint32_t* floor) {
  std::optional<Hash128> found;
  FindBy(
      [&](const Hash128& chain) {
        const MaskStore::KnownSignature known = masks->FindSignature(chain);
        found = known.signature;
        return std::pair(found.has_value(), known.deeper);
      },
      floor);
  return found;
}

void CellChain::SettleSignature(MaskStore* masks, std::uint32_t floor,
                                const Hash128& signature) const {
  SettleBy(
      [&](const Hash128& chain, bool settles) {
        masks->SettleSignature(chain, settles ? std::optional(signature) : std::nullopt);
      },
      floor);
}

}  // namespace maskd
