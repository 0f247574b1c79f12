#include "grammar_core/unique_items/row_step.h"

#include <algorithm>
#include <utility>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/unique_items/distinct_search.h"

namespace maskd {

namespace {

// A step, without those of the ways behind it for which drop(way).
template <typename Drop, typename Make>
RowMemory::State TakeBut(RowMemory* row, RowMemory::State state, unsigned char byte, Drop drop,
                         Make make, Work& work) {
  // The common case: not within such an array, and none begins.
  if (!RowMemory::IsOwn(state)) {
    const TermId next = row->automaton().Step(RowMemory::TermOf(state), byte, work);
    if (next == kFailedTerm || !row->automaton().store().term(next).in_distinct)
      return RowMemory::Of(next);
  }
  // Equal ways are one by now: a search for each of them would be made twice.
  RowMemory::Ways next = row->WaysBehind(state, byte, work);
  next.erase(std::remove_if(next.begin(), next.end(), drop), next.end());
  return work.ok() ? (row->*make)(std::move(next)) : kFailedTerm;
}

}  // namespace

RowMemory::State TakeByte(RowMemory* row, RowMemory::State state, unsigned char byte, Work& work) {
  const auto ends_not = [&](const RowMemory::Way& way) {
    return row->MayRepeat(way) && !DistinctSearch(row).CanEnd(way, work);
  };
  return TakeBut(row, state, byte, ends_not, &RowMemory::StateOf, work);
}

RowMemory::State TakeByteUnsearched(RowMemory* row, RowMemory::State state, unsigned char byte,
                                    Work& work) {
  const auto none = [](const RowMemory::Way&) { return false; };
  return TakeBut(row, state, byte, none, &RowMemory::NewStateOf, work);
}

RowMemory::State TakeByteForSearch(RowMemory* row, RowMemory::State state, unsigned char byte,
                                   Work& work) {
  const auto none = [](const RowMemory::Way&) { return false; };
  return TakeBut(row, state, byte, none, &RowMemory::StateOf, work);
}

}  // namespace maskd
