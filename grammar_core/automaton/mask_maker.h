// Makes the mask of a state, exactly, by the cheapest of three routes.
//
//   walk     steps the automaton through the token trie, and is given up when that takes too long.
//            Good for states that few bytes leave.
//   exits    for a free string before a tail: the mask of the string alone, which is the same in
//            every grammar, and of the tokens that leave it (by a quote) only what they hold after
//            that.
//   closure  finds a set of characters that keep the automaton in a closed set of states (see
//            closure.h); tokens of those characters are allowed without a look at each, and only
//            tokens that hold a byte leading out of the set are walked. Good for wide states: free
//            strings.
//
// All give the same mask; tests compare them.
// Threads  one use each; the automaton and the store it works on are shared.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_

#include <cstdint>
#include <memory>

#include "grammar_core/automaton/term_store.h"
#include "grammar_core/automaton/work.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_mask.h"

namespace maskd {

class Automaton;

class MaskMaker {
 public:
  // A route that a state does not have (exits) is replaced by the cheapest.
  enum class Route : std::uint8_t { kCheapest, kWalk, kClosure, kExits };

  // All must outlive this.
  MaskMaker(Automaton* automaton, MaskStore* masks, Work* work)
      : automaton_(automaton), masks_(masks), work_(work) {}

  // The tokens that `state` can take, by their bytes or by name; no stop ids for the end.
  // Meaningless when `work` failed.
  TokenMask Make(TermId state, Route route = Route::kCheapest);

  // The lowest floor (see term.h) of the states that Make() stepped from.
  [[nodiscard]] std::uint32_t lowest_floor() const { return lowest_floor_; }

 private:
  // Adds what the walk finds; false if it was given up after `max_nodes`.
  bool Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes, TokenMask* mask);
  bool HasExits(TermId state) const;
  // False if the tail can begin with a byte beyond ASCII, whose exits are not indexed.
  bool MakeByExits(TermId state, TokenMask* mask);
  std::shared_ptr<const Exits> ExitsOf(TermId cell, unsigned char byte);
  void WalkLongTokens(const TokenTrie& trie, TermId state, TokenMask* mask);
  void MarkRead(TermId state);

  Automaton* automaton_;
  MaskStore* masks_;
  Work* work_;
  std::uint32_t lowest_floor_ = kNoEnd;
};

// The keys of a state's cells, from the first on, each mixed with those before: the store's keys.
class CellChain {
 public:
  CellChain(const TermStore& store, TermId state) : store_(store), state_(state) {}

  // The mask that the store has for a beginning of the chain, or null.
  [[nodiscard]] MaskRef Find(MaskStore* masks) const;

  // Tells the store that the cells above `floor` settle `mask`; a floor of 0 means that the end of
  // the text was looked at too.
  void Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const;

 private:
  const TermStore& store_;
  const TermId state_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_MASK_MAKER_H_
