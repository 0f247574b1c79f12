#include "grammar_core/unique_items/row_step.h"

#include <algorithm>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/unique_items/distinct_search.h"

namespace maskd {

RowMemory::State TakeByte(RowMemory* row, RowMemory::State state, unsigned char byte, Work& work) {
  // The common case: not within such an array, and none begins.
  if (!RowMemory::IsOwn(state)) {
    const TermId next = row->automaton().Step(state, byte, work);
    if (next == kFailedTerm || !row->automaton().term(next).in_distinct) return next;
  }
  // Equal ways are one by now: a search for each of them would be made twice.
  RowMemory::Ways next = row->WaysBehind(state, byte, work);
  const auto ends_not = [&](const RowMemory::Way& way) {
    return row->MayRepeat(way) && !DistinctSearch(row).CanEnd(way, work);
  };
  next.erase(std::remove_if(next.begin(), next.end(), ends_not), next.end());
  return work.ok() ? row->StateOf(std::move(next)) : kFailedTerm;
}

}  // namespace maskd
