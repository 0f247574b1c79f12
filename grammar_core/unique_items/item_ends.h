// Which tokens that end a string, an item of an array whose items must differ, and go on behind its
// comma may be taken there, told without a step of the row for each.
// How      the string and the token's bytes up to its quote make an item. Where that item is new,
//          only what begins behind the comma can repeat one. Little of that is there mostly. If
//          enough bytes then lead away from all items, the new one included, the token is right.
//          The bytes that lead away are looked for once for each state behind such tokens.
// Cost     the steps of the shared automaton along each token, mostly known.
// Errors   by Work, as for Automaton.
// Threads  one at a time; the row's lock is held.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_ENDS_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_ENDS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/item_tokens.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// Sorts the tokens that end the item at hand, a string, by whether they repeat one before it.
class ItemEnds {
 public:
  // All must outlive this, and the row must not move meanwhile.
  ItemEnds(const ItemTokens& tokens, Automaton* automaton, RowMemory::InItem at, Work* work);

  // Of ItemTokens::ends() that `mask`, the one without what the row has written, has: those that
  // repeat an item are added to `repeated`, and those that this does not tell to `untold`.
  void Sort(const TokenMask& mask, std::vector<TokenId>* repeated, std::vector<TokenId>* untold);

 private:
  using Match = DistinctArrays::Match;

  // Whether some strings behind the comma are items, or may become ones.
  bool MeetsItems(const ItemTokens::Onward& onward);
  // Whether they are, or may become, the item that `end` ends.
  bool MeetsOwn(const ItemTokens::End& end);
  // Whether the state of the automaton behind `end` leads away from all items.
  bool LeadsAway(const ItemTokens::End& end);
  // The same of `onward` behind the state `term`, where the string's last character is.
  bool LeadsAway(TermId term, const ItemTokens::Onward& onward);
  // Whether so many characters lead away from `string`, each by one byte.
  bool HasWaysOut(TermId string, bool escapes, std::size_t enough);
  [[nodiscard]] bool IsTaken(absl::string_view text) const;

  const ItemTokens& tokens_;
  Automaton& automaton_;
  const RowMemory::InItem at_;
  Work& work_;
  const DistinctArrays::FirstBytes first_bytes_;
  std::optional<std::string> begun_;  // of the string at hand, once asked for
  std::vector<std::string> taken_;    // what would make an item of it that is there, ascending
  std::vector<std::optional<bool>> meets_;  // by Onward
  // By Onward: of the state that it was asked for last, which most tokens share, what was found.
  struct Away {
    TermId term = kFailedTerm;
    bool leads = false;
  };
  std::vector<Away> away_;
  struct Ways {
    TermId string;
    bool escapes;
    std::size_t enough;
    bool exist;
  };
  std::vector<Ways> known_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_ENDS_H_
