// Makes the levels of one state (closing_levels.h), each by a route that fits its form.
//
// Routes   any state   by each token of its mask where these are few, else by a walk.
//          strings     tokens of their characters are one set, and not walked.
//          a run       white space that may be left out: tokens are cut behind it.
//          a number    its tokens; those of the next cells are another state's.
// Cells    where nothing goes on both within the first cell and in the next one, the walk goes
//          through states of the cell alone, which all that begin with it share.
// Threads  one thread at a time. Makes one list, and is done.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_MAKER_H_
#define MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_MAKER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/work.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/mask/token_trie.h"
#include "grammar_core/mask_routes/closure.h"
#include "grammar_core/matcher/closing_level_list.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// The maker of one state's levels. What it makes is not all where `work` failed.
class ClosingLevelMaker {
 public:
  using State = TokenStepper::State;
  using Levels = ClosingLevelList::Ref;

  // All must outlive this.
  ClosingLevelMaker(const TokenStepper& stepper, Endings* endings, Work* work);

  // Makes those of any state. `mask`: its own where it is known, else null.
  Levels Make(TermId state, const TokenMask* mask);
  // Whether the tokens of a state that has this mask are taken one by one.
  static bool IsFew(const TokenMask* mask);

  // Makes those of a string of characters of one set before a quote.
  Levels MakeOfString(TermId state);
  // Makes those of a run of bytes of `set` that may be left out before `tail`, which begins with
  // none of them. How long the run may be only the mask says. `of_tail`: the levels of the tail
  // where they are known, or null.
  Levels MakeOfRun(const ByteBits& set, TermId tail, const ClosingLevelList* of_tail);
  // Makes those of a number that no token goes on behind, before a tail that begins with no byte of
  // one. `behind`: the levels of that where the number may end, else null.
  Levels MakeOfNumber(TermId state, const ClosingLevelList* behind);

 private:
  // The tokens of an ending, and its key where rows may have own states.
  using Place = std::pair<int, std::uint64_t>;
  // Nodes of a trie: from one to before another.
  using NodeRanges = std::vector<std::pair<std::size_t, std::size_t>>;
  // A state that was met, and its level.
  struct Recent {
    State next = kUnknownTerm;
    std::size_t level = 0;
  };
  static constexpr std::size_t kRecent = 256;
  // So many are taken one by one.
  static constexpr int kEachTokens = 256;

  // What visitors of tokens call: adds each.
  [[nodiscard]] auto Adder() {
    return [this](TokenId id, State next) {
      Add(id, row_.AtTokenEnd(next));
      return false;
    };
  }

  // The tokens of `mask`, that of `state`.
  void AddEach(TermId state, const TokenMask& mask);
  // The tokens among the nodes of `trie` from `begin` to before `end`, in a state whose first cell
  // never goes on with what begins its tail.
  void WalkCell(const TokenTrie& trie, std::size_t begin, std::size_t end, TermId state);
  // Tokens of the strings' own characters, by their number.
  void AddWithin(const Closure& closure, TermId state, const std::vector<TermId>& strings);
  void WalkString(TermId from);
  void AddFree(TermId from, State free, const Closure& closure, const NodeRanges& walked);
  void AddNamed(TermId state);
  // The state behind all of `bytes`; kNothingTerm where there is none.
  State Behind(State state, absl::string_view bytes);
  // Tokens that are too long for a trie, with the state that lead(bytes) gives.
  template <typename Lead>
  void AddLong(Lead lead);

  void Add(TokenId id, State next);
  void AddAll(const TokenMask& tokens, const Place& place);
  // Those of another state, which has none of the tokens here.
  void AddLevels(const ClosingLevelList& list);
  Place PlaceOf(State next);
  std::size_t LevelOf(const Place& place);
  Levels Finish();
  // A token that is taken by its bytes and by name ends as soon as either.
  void TakeTheSooner();

  const TokenStepper& stepper_;
  const RowStates& row_;
  const TokenizerSpace& tokenizer_;
  Endings& endings_;
  Work& work_;
  // For endings where items must differ: those that it is not enough for are too dear.
  Budget items_budget_;
  Work items_work_;
  std::vector<ClosingLevel> levels_;
  const ClosingStrings strings_;
  const bool is_remembered_;                        // rows may have own states
  absl::flat_hash_map<Place, std::size_t> places_;  // in levels_
  std::array<Recent, kRecent> recent_;
  std::array<Recent, kRecent> recent_cells_;  // of cells without what is behind them
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_CLOSING_LEVEL_MAKER_H_
