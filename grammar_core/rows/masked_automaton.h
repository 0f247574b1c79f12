// An automaton with the masks of its states: made when first asked for, and then kept.
// A mask is looked for in the store that grammars share, by what it depends on: a key of the
// state's tail, else its cells one by one. Where the store has none, MaskMaker makes it. What the
// state keeps is that mask with the stop ids, where the text may end.
//
// Items    masks are exact, except within arrays of distinct items: what a row may not repeat there
//          is taken out of them row by row (MaskIn()).
// Threads  any number at once, as for Automaton; a mask that is known is read without a lock. Two
//          threads may make one mask at once: the first that is ready is kept.
// Errors   by Work, as for Automaton.
#ifndef MASKD_GRAMMAR_CORE_ROWS_MASKED_AUTOMATON_H_
#define MASKD_GRAMMAR_CORE_ROWS_MASKED_AUTOMATON_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/mask_routes/tail_signatures.h"
#include "grammar_core/rows/kept_masks.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// An automaton whose states have masks, kept by it and shared through a MaskStore.
class MaskedAutomaton final : public Automaton, public TextMasks {
 public:
  // As Automaton's; `masks` must outlive this too.
  MaskedAutomaton(std::shared_ptr<const GrammarTables> tables, MaskStore* masks,
                  const Limits& limits, std::int64_t full_bytes);
  // The same with its own tables, never full. Errors: those of GrammarTables::Create().
  static absl::StatusOr<std::unique_ptr<MaskedAutomaton>> Create(const GrammarIr& ir,
                                                                 MaskStore* masks,
                                                                 const Limits& limits,
                                                                 Budget& budget,
                                                                 Measure measure = Measure::kBytes);

  // The tokens allowed in `state`, the vocabulary's stop ids among them where the text may end. The
  // pointer lives as long as the automaton. Null if `work` failed.
  const MaskRef* Mask(TermId state, Work& work) {
    const KeptMasks::Number known = mask_slot(state).load(std::memory_order_acquire);
    return known != TermStore::kNoMask ? kept_.At(known) : MakeMask(state, work);
  }

  // The same for a state of `row`, whose lock is held: for one that only the row has, without the
  // tokens that would repeat what it has written. Null if `work` failed.
  MaskRef MaskIn(RowMemory* row, RowMemory::State state, Work& work);

  // The mask without stop ids, from the store that grammars share.
  MaskRef TextMask(TermId state, Work& work, std::uint32_t* floor, int depth) override;
  MaskRef TextMask(TermId state, Work& work) {
    std::uint32_t floor = kNoEnd;
    return TextMask(state, work, &floor, 0);
  }

  // States that have their mask.
  [[nodiscard]] std::int64_t mask_count() const ABSL_LOCKS_EXCLUDED(kept_mutex_);

 private:
  MaskRef TextMaskByChain(TermId state, Work& work, std::uint32_t* floor, int depth);
  const MaskRef* MakeMask(TermId state, Work& work);
  const MaskRef* Keep(TermId state, MaskRef mask) ABSL_LOCKS_EXCLUDED(kept_mutex_);
  // What this holds beside the states and the masks.
  [[nodiscard]] std::int64_t KeeperBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(kept_mutex_);
  MaskRef WithoutRepeated(RowMemory* row, RowMemory::State state, const MaskRef& mask, Work& work);
  // `mask`, that of `state`, without the markers that it takes as text alone.
  MaskRef WithoutMarkers(TermId state, const MaskRef& mask);
  [[nodiscard]] MaskRef Without(std::span<const TokenId> ids, const MaskRef& mask) const;
  [[nodiscard]] MaskRef WithStopIds(const MaskRef& mask) const;

  MaskStore* const masks_;
  TailSignatures signatures_;
  mutable Mutex kept_mutex_;
  // Written under the lock; what a state names is read without it.
  KeptMasks kept_;
  std::int64_t states_ ABSL_GUARDED_BY(kept_mutex_) = 0;  // that have their mask
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_MASKED_AUTOMATON_H_
