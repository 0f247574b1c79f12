// Makes the mask of a state, exactly, by the cheapest route that its form allows.
//
//   choice   a choice of few at the head: the union of its branches' masks.
//   names    property names: the trie walked along the texts, without a term for each letter.
//   others   undeclared names: the mask of any name, less the tokens that end a declared one.
//   length   a pattern with a bound on the length: the pattern's own mask, and a walk of the tokens
//            that come near the bound.
//   counts   a pattern whose counts are far from their bounds: the mask of the same without bounds,
//            where that is also the mask of the same with small ones (see count_bounds.h).
//   runs     a run of bytes of one set (white space, digits) before a tail: tokens that are such a
//            run, the tail's own mask, and the tail tried on what tokens hold after a run.
//   head     any other cell that may be empty: what begins in the cell, and the tail's own mask.
//   exits    a wide string before a tail: the mask of the string alone, which is the same in every
//            grammar, and of the tokens that leave it (by a quote) only what they hold after that.
//   walk     steps the automaton through the token trie, and is given up when that takes too long.
//            Good for states that few bytes leave.
//   closure  finds a set of characters that keep the automaton in a closed set of states (see
//            closure.h); tokens of those characters are allowed without a look at each, and only
//            tokens that hold a byte leading out of the set are walked. Good for wide states.
//
// All give the same mask; tests compare them.
// Threads  one use each; the automaton and the store it works on are shared.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "grammar_core/automaton/term_store.h"
#include "grammar_core/automaton/walk_states.h"
#include "grammar_core/automaton/work.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_mask.h"

namespace maskd {

class MaskMaker {
 public:
  // kCheapest: the first of the above that fits.
  enum class Route : std::uint8_t { kCheapest, kWalk, kClosure };

  // All must outlive this. `depth` counts the masks that are made for the sake of another one;
  // above some the routes that make more are not taken.
  MaskMaker(Automaton* automaton, MaskStore* masks, Work* work, int depth = 0)
      : automaton_(automaton),
        masks_(masks),
        work_(work),
        depth_(depth),
        states_(automaton, work) {}

  // The tokens that `state` can take, by their bytes or by name; no stop ids for the end.
  // Meaningless when `work` failed.
  TokenMask Make(TermId state, Route route = Route::kCheapest);

  // The lowest floor (see term.h) of the states that Make() stepped from.
  [[nodiscard]] std::uint32_t lowest_floor() const {
    return std::min(lowest_floor_, states_.lowest_floor());
  }

 private:
  // A state's first cell and what follows it.
  struct Parts {
    TermId cell;
    TermId tail;
  };
  [[nodiscard]] Parts PartsOf(TermId state) const;

  // Each makes the mask of a state of its form; false, with `mask` as it was, for another state.
  bool MakeByForm(TermId state, TokenMask* mask);
  bool MakeByChoice(const Parts& parts, TokenMask* mask);
  bool MakeByNames(const Parts& parts, TokenMask* mask);
  bool MakeByOthers(const Parts& parts, TokenMask* mask);
  bool MakeByLength(TermId state, const Parts& parts, TokenMask* mask);
  bool MakeByCounts(const Parts& parts, TokenMask* mask);
  bool MakeByRuns(TermId state, const Parts& parts, TokenMask* mask);
  bool MakeByHead(const Parts& parts, TokenMask* mask);
  bool MakeByExits(TermId state, const Parts& parts, TokenMask* mask);
  void MakeByWalkOrClosure(TermId state, Route route, TokenMask* mask);

  // The mask of another state with the same far end; null when `work` failed.
  MaskRef MaskOf(TermId state);
  // Adds it.
  void MergeMaskOf(TermId state, TokenMask* mask);

  // The states behind the bytes of the node that a walk is at, by depth.
  using Path = std::array<WalkStates::State, TokenTrie::kMaxDepth + 1>;
  static constexpr std::int64_t kAllNodes = INT64_MAX;

  // Walks the nodes [begin, end), whose parent's state is in `path`, and calls allow(node) for each
  // whose bytes can be taken, tokens or not. False if it was given up after `max_nodes`.
  template <typename Allow>
  bool WalkNodes(const TokenTrie& trie, std::size_t begin, std::size_t end, Path* path,
                 std::int64_t max_nodes, Allow allow);
  // Walks all of `trie` from `state`, for the tokens of the trie itself; false if given up.
  bool Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes, TokenMask* mask);
  void WalkLongTokens(const TokenTrie& trie, TermId state, TokenMask* mask);
  bool IsWorthExits(TermId cell);
  // How many ASCII characters lead on from `state`.
  int CountTaken(TermId state);
  std::shared_ptr<const Exits> ExitsOf(TermId cell, unsigned char byte);
  [[nodiscard]] bool EndsByQuote(TermId tail) const;
  void MarkRead(TermId state);

  Automaton* automaton_;
  MaskStore* masks_;
  Work* work_;
  const int depth_;
  WalkStates states_;
  std::uint32_t lowest_floor_ = kNoEnd;  // of states stepped from without them
};

// The keys of a state's cells, from the first on, each mixed with those before: the store's keys.
class CellChain {
 public:
  CellChain(const TermStore& store, TermId state) : store_(store), state_(state) {}

  // The mask that the store has for a beginning of the chain, or null. `*floor` is lowered to the
  // cells below that beginning.
  [[nodiscard]] MaskRef Find(MaskStore* masks, std::uint32_t* floor) const;

  // Tells the store that the cells above `floor` settle `mask`; a floor of 0 means that the end of
  // the text was looked at too.
  void Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const;

 private:
  const TermStore& store_;
  const TermId state_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_
