// A mask goes through four stages, each shared by fewer than the one before. The tokens of the text
// are shared by all grammars of the tokenizer. Those that repeat an item go for this automaton, or
// for one row where the state is its own. Then markers that stand as text only go, and the stop ids
// come. The first stage is dear and is found again in the store; the others are a few words each.
//
// Invariant  the slot of a state is written once, under the lock, after the mask that it points to;
//            readers take it without the lock (release and acquire).
// Cost       a known mask: one atomic read. A new one: its key and, where the store has none, a
//            route of mask_routes.
#include "grammar_core/rows/masked_automaton.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grammar_core/automaton/automaton_size.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask_routes/cell_chain.h"
#include "grammar_core/unique_items/repeated_tokens.h"

namespace maskd {

MaskedAutomaton::MaskedAutomaton(std::shared_ptr<const GrammarTables> tables, MaskStore* masks,
                                 const Limits& limits, std::int64_t full_bytes)
    : Automaton(std::move(tables), &masks->index().vocabulary(), limits, full_bytes),
      masks_(masks),
      signatures_(this, &store(), masks) {
  const MutexLock lock(&kept_mutex_);
  CountMasks(0, KeeperBytes());
}

std::int64_t MaskedAutomaton::KeeperBytes() const {
  return static_cast<std::int64_t>(sizeof(*this) - sizeof(Automaton)) + kept_.held_bytes();
}

absl::StatusOr<std::unique_ptr<MaskedAutomaton>> MaskedAutomaton::Create(
    const GrammarIr& ir, MaskStore* masks, const Limits& limits, Budget& budget, Measure measure) {
  auto tables = GrammarTables::Create(ir, masks->index(), limits, budget, measure);
  if (!tables.ok()) return tables.status();
  return std::make_unique<MaskedAutomaton>(*std::move(tables), masks, limits,
                                           std::numeric_limits<std::int64_t>::max() / 2);
}

const MaskRef* MaskedAutomaton::MakeMask(TermId state, Work& work) {
  if (!work.MayMakeMask()) return nullptr;
  MaskRef mask = TextMask(StateTerms(*this).WithoutDistinct(state), work);
  if (mask != nullptr && tables().remembers()) {
    RowMemory row(this);
    mask =
        WithoutRepeated(&row, RowMemory::Of(StateTerms(*this).WithoutDistinct(state)), mask, work);
  }
  if (mask == nullptr) return nullptr;
  mask = WithoutMarkers(state, mask);
  return Keep(state, MayEnd(state) ? WithStopIds(mask) : std::move(mask));
}

const MaskRef* MaskedAutomaton::Keep(TermId state, MaskRef mask) {
  std::atomic<KeptMasks::Number>& slot = mask_slot(state);
  const MutexLock lock(&kept_mutex_);
  // Another thread may have kept it while this one made its own.
  if (const KeptMasks::Number known = slot.load(std::memory_order_relaxed);
      known != TermStore::kNoMask) {
    return kept_.At(known);
  }
  const auto [kept, number, is_new] = kept_.Keep(std::move(mask));
  CountMasks(is_new ? (*kept)->held_bytes() : 0, KeeperBytes());
  if (number == TermStore::kNoMask) {
    // No number is left: rows go on in another automaton. Those that stay ask again each time.
    AutomatonSize(*this).Retire();
    return kept;
  }
  ++states_;
  slot.store(number, std::memory_order_release);
  return kept;
}

MaskRef MaskedAutomaton::MaskIn(RowMemory* row, RowMemory::State state, Work& work) {
  const MaskRef* const shared = Mask(row->Shared(state), work);
  if (shared == nullptr) return nullptr;
  if (!RowMemory::IsOwn(state)) return *shared;
  const Hash128 key = row->KeyOf(state);
  // A row asks for the mask of one place again before it moves: for a draft, for a narrower mask.
  if (MaskRef known = row->KnownMask(key); known != nullptr) return known;
  MaskRef exact = WithoutRepeated(row, state, *shared, work);
  if (exact != nullptr) row->KeepMask(key, exact);
  return exact;
}

MaskRef MaskedAutomaton::WithoutRepeated(RowMemory* row, RowMemory::State state,
                                         const MaskRef& mask, Work& work) {
  const std::vector<TokenId> repeated =
      FindRepeated(*tables().item_tokens, row, state, *mask, work);
  return work.ok() ? Without(repeated, mask) : nullptr;
}

// Masks of states are shared with grammars that have no such markers, so these are taken out last.
MaskRef MaskedAutomaton::WithoutMarkers(TermId state, const MaskRef& mask) {
  std::vector<TokenId> as_text;
  for (const TokenId id : tables().markers)
    if (mask->Allows(id) && StateTerms(*this).BehindNamed(state, id) == kNothingTerm)
      as_text.push_back(id);
  return Without(as_text, mask);
}

MaskRef MaskedAutomaton::Without(std::span<const TokenId> ids, const MaskRef& mask) const {
  if (ids.empty()) return mask;
  return masks_->Assemble({{mask}, {ids.begin(), ids.end()}, {}});
}

MaskRef MaskedAutomaton::WithStopIds(const MaskRef& mask) const {
  return masks_->Assemble({{mask}, {}, vocabulary().stop_ids()});
}

MaskRef MaskedAutomaton::TextMask(TermId state, Work& work, std::uint32_t* floor, int depth) {
  const std::optional<TailSignatures::StateKey> key = signatures_.KeyOf(state, work);
  // By what its tail takes where the state has a near end, as such keys meet in more stacks; else
  // by its cells.
  if (!key.has_value()) return TextMaskByChain(state, work, floor, depth);
  MaskRef mask = masks_->Find(key->key).mask;
  masks_->CountLookUp(mask != nullptr);
  if (mask == nullptr) {
    mask = MaskMaker(this, this, masks_, &work, depth).Make(state);
    if (mask == nullptr) return nullptr;
    masks_->Settle(key->key, mask);
  }
  assert(masks_->index().vocabulary().size() == mask->vocab_size() && "a mask of other tokens");
  *floor = std::min(*floor, key->floor);
  return mask;
}

MaskRef MaskedAutomaton::TextMaskByChain(TermId state, Work& work, std::uint32_t* floor,
                                         int depth) {
  CellChain chain(store(), state);
  MaskRef known = chain.Find(masks_, floor);
  masks_->CountLookUp(known != nullptr);
  if (known != nullptr) return known;
  MaskMaker maker(this, this, masks_, &work, depth);
  MaskRef mask = maker.Make(state);
  if (mask == nullptr) return nullptr;
  chain.Settle(masks_, maker.lowest_floor(), mask);
  *floor = std::min(*floor, maker.lowest_floor());
  return mask;
}

std::int64_t MaskedAutomaton::mask_count() const {
  const MutexLock lock(&kept_mutex_);
  return states_;
}

}  // namespace maskd
