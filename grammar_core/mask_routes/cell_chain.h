// The store's keys of what depends on a state's first cells: their keys, from the first on, each
// mixed with those before. That is the state's mask, and the signature of a tail
// (tail_signatures.h).
//
// Threads  one use each; store and terms are shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_CELL_CHAIN_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_CELL_CHAIN_H_

#include <cstdint>
#include <optional>

#include "grammar_core/base/hash128.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The keys of a state, by more and more of its first cells.
class CellChain {
 public:
  // `seed` tells apart what is stored of the same cells.
  CellChain(const TermStore& store, TermId state, const Hash128& seed = {})
      : store_(store), state_(state), seed_(seed) {}

  // What the store has for a beginning of the chain: the mask, or null; the signature, or nothing.
  // `*floor` is lowered to the cells below that beginning.
  [[nodiscard]] MaskRef Find(MaskStore* masks, std::uint32_t* floor);
  [[nodiscard]] std::optional<Hash128> FindSignature(MaskStore* masks, std::uint32_t* floor);

  // After that: tells the store that the cells above `floor` settle it; a floor of 0 means that the
  // end of the text was looked at too.
  void Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const;
  void SettleSignature(MaskStore* masks, std::uint32_t floor, const Hash128& signature) const;

 private:
  // find(chain key) says what is known of a beginning: {whether it settles, whether to go on}.
  template <typename FindChain>
  void FindBy(FindChain find, std::uint32_t* floor);
  // settle(chain key, whether this beginning settles).
  template <typename SettleChain>
  void SettleBy(SettleChain settle, std::uint32_t floor) const;

  const TermStore& store_;
  const TermId state_;
  const Hash128 seed_;
  int known_stops_ = 0;  // those of which the store knows that it takes more cells
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_CELL_CHAIN_H_
