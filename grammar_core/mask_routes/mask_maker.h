// Makes the mask of a state, exactly, by the cheapest route that its form allows: the first in the
// order of mask_routes.h that fits. A walk and a closure (closure.h) fit every state.
//
// All routes give the same mask; tests compare them.
// Threads  one use each; the automaton and the store it works on are shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_MAKER_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_MAKER_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/work.h"
#include "grammar_core/mask/mask_builder.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/run_index.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/mask_routes/free_text.h"
#include "grammar_core/mask_routes/joined_names.h"
#include "grammar_core/mask_routes/mask_routes.h"
#include "grammar_core/mask_routes/walk_states.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/terms/text_walk.h"

namespace maskd {

// Who has the masks that others are made of: MaskedAutomaton.
class TextMasks {
 public:
  // The tokens that `state` can take, without stop ids; null if `work` failed. `*floor` is lowered
  // to the cells of `state`, counted from the far end, that the mask does not depend on. `depth`
  // counts masks that are made for the sake of another.
  virtual MaskRef TextMask(TermId state, Work& work, std::uint32_t* floor, int depth) = 0;

 protected:
  ~TextMasks() = default;
};

// Makes masks by the routes of mask_routes.h, for one state after another.
class MaskMaker {
 public:
  // All must outlive this. `depth` counts the masks that are made for the sake of another one;
  // above some the routes that make more are not taken.
  MaskMaker(Automaton* automaton, TextMasks* others, MaskStore* masks, Work* work, int depth = 0)
      : automaton_(automaton),
        others_(others),
        masks_(masks),
        work_(work),
        depth_(depth),
        states_(automaton, work) {}

  // The tokens that `state` can take, by their bytes or by name; no stop ids for the end. By
  // `route` alone, where one is given: null if it does not fit. Meaningless when `work` failed.
  MaskRef Make(TermId state, std::optional<MaskRoute> route = std::nullopt);
  // The route by which the last mask was made.
  [[nodiscard]] MaskRoute route() const { return route_; }

  // The lowest floor (see term.h) of the states that Make() stepped from.
  [[nodiscard]] std::uint32_t lowest_floor() const {
    return std::min(lowest_floor_, states_.lowest_floor());
  }

 private:
  using Parts = TermStore::Parts;
  [[nodiscard]] Parts PartsOf(TermId state) const { return automaton_->store().PartsOf(state); }

  // A row of the table of routes by form: the kinds of cells that it may fit, and what tries it.
  struct FormRoute;
  static std::span<const FormRoute> FormRoutes();
  // Tries those, or `route` alone. False, with `mask` as it was, where none fits.
  bool MakeByForm(TermId state, std::optional<MaskRoute> route, MaskBuilder* mask);

  // Each makes the mask of a state of its form; false, with `mask` as it was, for another state.
  bool MakeByText(TermId state, MaskBuilder* mask);
  bool MakeByChoice(const Parts& parts, MaskBuilder* mask);
  bool MakeByNames(const Parts& parts, MaskBuilder* mask);
  bool MakeByOthers(const Parts& parts, MaskBuilder* mask);
  bool MakeByLength(TermId state, const Parts& parts, MaskBuilder* mask);
  bool MakeByCounts(TermId state, const Parts& parts, MaskBuilder* mask);
  bool MakeByRuns(TermId state, const Parts& parts, MaskBuilder* mask);
  // The same of a run that may be empty, from the mask of a long one; for a tail that no byte of
  // the run begins. Long tokens are left to the caller.
  bool MakeByLongRun(const Parts& parts, const RunIndex& runs, MaskBuilder* mask);
  // That mask; null if `work` failed.
  MaskRef MaskOfLongRun(const Parts& parts, const RunIndex& runs);
  // Adds the tokens that are a run of so many bytes of `set` or go on in `tail`.
  void AddRuns(const ByteBits& set, const RunIndex& runs, std::uint32_t fewest, std::uint32_t most,
               TermId tail, MaskBuilder* mask);
  bool MakeByFreeText(TermId state, const Parts& parts, MaskBuilder* mask);
  bool MakeByExits(TermId state, MaskBuilder* mask);
  bool MakeByEnds(const Parts& parts, MaskBuilder* mask);
  // Not a row of the table: the routes for choices and runs call it.
  bool MakeByMember(const Parts& parts, MaskBuilder* mask);
  void MakeByWalkOrClosure(TermId state, std::optional<MaskRoute> route, MaskBuilder* mask);

  // The mask of another state with the same far end; null when `work` failed.
  MaskRef MaskOf(TermId state);
  // Adds it.
  void MergeMaskOf(TermId state, MaskBuilder* mask);

  // A state that takes more ASCII characters is wide.
  static constexpr int kWideState = 64;
  // Trie nodes a unit of work stands for: a known transition takes 2 ns, a new one some hundred.
  static constexpr std::int64_t kNodesPerUnit = 64;

  // The states behind the bytes of the node that a walk is at, by depth.
  using Path = std::array<WalkStates::State, TokenTrie::kMaxDepth + 1>;
  static constexpr std::int64_t kAllNodes = INT64_MAX;

  // Walks the nodes [begin, end), whose parent's state is in `path`, and calls allow(node) for each
  // whose bytes can be taken, tokens or not. False if it was given up, as no more of `*nodes_left`
  // were.
  template <typename Allow>
  bool WalkNodes(const TokenTrie& trie, std::size_t begin, std::size_t end, Path* path,
                 std::int64_t* nodes_left, Allow allow);
  // The same of all nodes, from the state in path[0]. The nodes of first bytes lie far apart: only
  // those that may lead on are looked at.
  template <typename Allow>
  bool WalkAll(const TokenTrie& trie, Path* path, std::int64_t max_nodes, Allow allow);
  // Walks the node `at` and what lies below it, however much it is.
  template <typename Allow>
  void WalkFrom(const TokenTrie& trie, std::size_t at, Path* path, Allow allow) {
    std::int64_t nodes_left = kAllNodes;
    WalkNodes(trie, at, at + trie.nodes()[at].skip, path, &nodes_left, allow);
  }
  // Walks what lies below node `parent`, which leads to `state`.
  template <typename Allow>
  void WalkBelow(const TokenTrie& trie, std::size_t parent, WalkStates::State state, Allow allow) {
    const TrieNode node = trie.nodes()[parent];
    Path path;
    path[node.depth] = state;
    std::int64_t nodes_left = kAllNodes;
    WalkNodes(trie, parent + 1, parent + node.skip, &path, &nodes_left, allow);
  }
  // Walks all of `trie` from `state`, for the tokens of the trie itself; false if given up.
  bool Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes, MaskBuilder* mask);
  // The same of a trie of all candidates.
  void WalkCandidates(const CandidateClass& candidates, TermId state, MaskBuilder* mask);
  void WalkLongTokens(const TokenTrie& trie, TermId state, MaskBuilder* mask);
  // How many ASCII characters lead on from `state`, by the automaton's own states.
  int CountTaken(TermId state);
  // Whether kWideState and more do, by those of the walk that `state` begins.
  bool IsWide(TermId state);
  // How many branches begin with an intersection of texts.
  [[nodiscard]] int CountIntersections(std::span<const TermId> branches) const;
  void MarkRead(TermId state);

  // Names and exits, in files of their own.
  //
  // What walks below node `parent` of a trie, or all of it, and calls allow(node).
  using OnNode = absl::FunctionRef<void(const TrieNode&)>;
  static constexpr std::size_t kRoot = SIZE_MAX;
  // The first two are false, without a call, for a state of another form.
  bool WalkNames(const TokenTrie& trie, std::size_t parent, const Parts& parts, OnNode allow);
  bool WalkMembers(const TokenTrie& trie, const Parts& parts, OnNode allow);
  // Calls on_quote(node, text) at the quote behind each whole text, and allow(node) on the way.
  void WalkList(const TokenTrie& trie, std::size_t parent, const TextList& texts, OnNode allow,
                absl::FunctionRef<void(std::size_t, std::uint32_t)> on_quote);
  void WalkMember(const TokenTrie& trie, std::size_t quote, TermId member, OnNode allow);
  void WalkOthers(const TokenTrie& trie, std::size_t parent, const OtherNames& names, OnNode allow);
  // What a whole name and its quote, the node `quote`, begin.
  void WalkBehindName(const TokenTrie& trie, std::size_t quote, const JoinedNames::Owner& owner,
                      OnNode allow);
  void WalkJoined(const TokenTrie& trie, std::size_t parent, JoinedNames* names, OnNode allow);
  void MakeByOtherNames(const OtherNames& names, MaskBuilder* mask);
  // Adds the masks of objects' names.
  void MergeNames(std::span<const TermId> states, MaskBuilder* mask);
  [[nodiscard]] std::optional<OtherNames> OtherNamesOf(const Parts& parts) const;
  // The branches of the choice that `state` begins with, those of inner choices among them; the
  // state where it begins with none.
  void AppendBranches(TermId state, std::vector<TermId>* branches) const;
  [[nodiscard]] bool EndsByQuote(TermId tail) const;
  // Whether `cell` is an object where a member may begin.
  [[nodiscard]] bool IsBeforeMember(TermId cell) const;
  // Whether `state` is an object's names, declared or others.
  [[nodiscard]] bool IsName(TermId state) const;
  // Adds those; false for another state, and where they cannot be read beside those added before.
  bool JoinNames(TermId state, JoinedNames* names);
  // Whether `spine` is a rule, a repeat or a choice that may begin with a free text, or that text;
  // of so many within one another.
  bool BeginsFreely(TermId spine, int levels);
  bool MakeByFreeBody(TermId state, const Parts& parts, MaskBuilder* mask);
  // The tokens that begin a text and that a free text may refuse, sorted; null if `work` failed.
  std::optional<std::vector<TokenId>> SuspectsOf(const AbsentTexts& text);
  // What bytes alone may read of `state`; where that is less, the mask depends on all its cells.
  TermId TextBeforeNames(TermId state);
  // Adds the tokens that no text begins with, where the free text of `cell` may end before them, or
  // within them, and `tail` takes the rest.
  void AddNoText(TermId cell, WalkStates::State tail, MaskBuilder* mask);
  // Whether a token is text of `cell`, and then, if it is not all of it, of `tail`.
  bool EndsWithin(TermId cell, WalkStates::State tail, absl::string_view token);
  // Whether it is such where its text before `end` may end anywhere.
  bool TakesRest(absl::string_view token, std::size_t end, WalkStates::State tail);
  bool TakesAll(absl::string_view bytes, WalkStates::State state);
  // The tokens that hold one of `texts`, as ends; null if `work` failed.
  std::shared_ptr<const Exits> TokensHolding(CharTerm texts);
  bool IsWorthExits(TermId cell);
  std::shared_ptr<const Exits> ExitsOf(TermId text, unsigned char byte);
  std::shared_ptr<const Exits> EndsOf(TermId cell);
  // Tokens below trie node `end`, but those that go on as a number, with what they hold after it.
  void AddRests(std::size_t end, std::vector<TokenTrie::Entry>* rests) const;

  Automaton* automaton_;
  TextMasks* others_;
  MaskStore* masks_;
  Work* work_;
  const int depth_;
  WalkStates states_;
  std::uint32_t lowest_floor_ = kNoEnd;  // of states stepped from without them
  MaskRoute route_ = MaskRoute::kWalk;
};

template <typename Allow>
bool MaskMaker::WalkNodes(const TokenTrie& trie, std::size_t begin, std::size_t end, Path* path,
                          std::int64_t* nodes_left, Allow allow) {
  const std::span<const TrieNode> nodes = trie.nodes();
  if (begin == end || (*path)[nodes[begin].depth - 1] <= WalkStates::kFailed) return true;
  std::int64_t left = *nodes_left;
  assert(end <= nodes.size() && "a range of the trie");
  for (std::size_t i = begin; i < end; --left) {
    if (left == 0) return false;
    if (left % kNodesPerUnit == 0 && !work_->Spend()) return true;
    const TrieNode node = nodes[i];
    assert(node.depth >= 1 && node.depth < path->size() && "deeper than the trie is made");
    const WalkStates::State next =
        states_.Step((*path)[node.depth - 1], static_cast<unsigned char>(node.byte));
    if (next == WalkStates::kDead) {
      i += node.skip;
      continue;
    }
    if (next == WalkStates::kFailed) return true;
    allow(node);
    if (node.skip > WalkStates::kManyBelow) states_.Narrow(next);
    (*path)[node.depth] = next;
    ++i;
  }
  *nodes_left = left;
  return true;
}

template <typename Allow>
bool MaskMaker::WalkAll(const TokenTrie& trie, Path* path, std::int64_t max_nodes, Allow allow) {
  const std::size_t end = trie.nodes().size();
  const WalkStates::State state = (*path)[0];
  for (int byte = 0; state > WalkStates::kFailed && byte < 256; ++byte) {
    if (states_.IsDead(state, static_cast<unsigned char>(byte))) continue;
    const std::size_t at = trie.First(static_cast<unsigned char>(byte));
    if (at == end) continue;
    if (!WalkNodes(trie, at, at + trie.nodes()[at].skip, path, &max_nodes, allow)) return false;
  }
  return true;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_MAKER_H_
