// The store's keys of a state's mask: those of its cells, from the first on, each mixed with those
// before.
//
// Threads  one use each; store and terms are shared.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_CELL_CHAIN_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_CELL_CHAIN_H_

#include <cstdint>

#include "grammar_core/automaton/term_store.h"
#include "grammar_core/mask/mask_store.h"

namespace maskd {

class CellChain {
 public:
  CellChain(const TermStore& store, TermId state) : store_(store), state_(state) {}

  // The mask that the store has for a beginning of the chain, or null. `*floor` is lowered to the
  // cells below that beginning.
  [[nodiscard]] MaskRef Find(MaskStore* masks, std::uint32_t* floor);

  // After Find(): tells the store that the cells above `floor` settle `mask`; a floor of 0 means
  // that the end of the text was looked at too.
  void Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const;

 private:
  const TermStore& store_;
  const TermId state_;
  int known_stops_ = 0;  // those of which the store knows that it takes more cells
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_CELL_CHAIN_H_
