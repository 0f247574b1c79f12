// Whether texts of characters are left for many conditions at once.
// A text for several choices is one for some way of each of them. So a node of the search is a list
// of single ways. There are few of those, where the sets of ways that a text leaves open are many.
// What is found of a node is how long a text for it must be, and how long one is. That holds for
// every set that the list is a way of. A bound of length is compared with it and is no part of a
// node.
//
// Memory   nodes are kept from search to search, up to a bound at which all are dropped.
// Errors   by Work: RESOURCE_EXHAUSTED where one search meets more nodes than Limits says.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SEARCH_H_
#define MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SEARCH_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

#include "grammar_core/base/work.h"
#include "grammar_core/intersection/condition_samples.h"
#include "grammar_core/intersection/conditions.h"
#include "grammar_core/terms/encoding.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The texts of at most `max_chars` characters that meet all conditions.
struct Product {
  ConditionList conditions;
  std::uint32_t max_chars = kNoEnd;

  bool operator==(const Product&) const = default;
  // Products are keys of tables.
  template <typename H>
  friend H AbslHashValue(H state, const Product& product) {
    return H::combine(std::move(state), product.conditions, product.max_chars);
  }
};

// Answers whether a text is left that meets every condition of a list. What was found for one list
// helps with the next.
class ConditionSearch {
 public:
  // Both must outlive this. A search visits at most `max_nodes` nodes.
  ConditionSearch(TermStore* store, CharEdgeSource* characters, std::int64_t max_nodes)
      : store_(store),
        max_nodes_(max_nodes),
        conditions_(store, characters),
        samples_(&conditions_) {}
  ConditionSearch(const ConditionSearch&) = delete;
  ConditionSearch& operator=(const ConditionSearch&) = delete;

  // What the term is. False where it is plainly no text.
  bool Read(CharTerm term, Product* product);

  // Whether the empty text meets all; whether any text does. The second is a search where no known
  // text answers; meaningless when `work` failed.
  [[nodiscard]] bool IsNullable(const Product& product) const;
  bool HasText(const Product& product, Work& work);

  // A text of as few characters as there may be, most of them plain ASCII where that is so. Nothing
  // where there is none, or too many nodes would have to be met.
  std::optional<std::u32string> ShortestText(const Product& product, Work& work);

  // What may follow one character, which may turn out to be nothing. False where it plainly is.
  bool Follow(const Product& product, std::uint32_t character, Product* next, Work& work);
  // Whether some text begins with a character of `first`.
  bool HasTextFrom(const Product& product, const Completions& first, Work& work);

  // Bytes of the nodes met, the conditions and the samples.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  using NodeId = std::uint32_t;
  struct Step {
    std::uint32_t character;
    NodeId to;
  };
  // A list without choices, except choices that have too many ways.
  struct Node {
    ConditionList conditions;
    bool nullable = false;
    bool is_expanded = false;
    // A search for it as a part of another list was given up.
    bool is_given_up = false;
    // Each two of its conditions have a text of at most so many characters; so have some that were
    // likely to contradict one another.
    std::uint32_t pairs_known = kNoEnd;
    std::uint32_t parts_known = kNoEnd;
    // A text has at least so many characters; kNoEnd: there is none.
    std::uint32_t fewest = 0;
    // What all conditions ask for, one after the other: a guess.
    std::uint32_t sum = 0;
    // The shortest text that is known, and how it begins.
    std::uint32_t known = kNoEnd;
    Step begin = {};
    std::vector<Step> steps;
  };
  struct Visit {
    std::uint32_t chars;
    NodeId from;
    std::uint32_t character;
  };
  using Visits = absl::flat_hash_map<NodeId, Visit>;
  struct Frontier;
  // A node by its list, which only the node holds.
  struct HashOfList {
    using is_transparent = void;
    const std::deque<Node>* nodes;
    // The hash of a list that is looked for.
    std::size_t operator()(const ConditionList& list) const {
      return absl::HashOf(absl::MakeConstSpan(list));
    }
    // The hash of a node that is in the table.
    std::size_t operator()(NodeId id) const { return (*this)((*nodes)[id].conditions); }
  };
  struct SameList {
    using is_transparent = void;
    const std::deque<Node>* nodes;
    // No two nodes have the same list.
    bool operator()(NodeId a, NodeId b) const { return a == b; }
    // Whether the node has that list.
    bool operator()(NodeId id, const ConditionList& list) const {
      return (*nodes)[id].conditions == list;
    }
  };

  static constexpr std::size_t kMostWays = 64;      // of a condition that is split
  static constexpr std::size_t kMostChoices = 512;  // of ways for one list
  // A search that meets more nodes looks for contradictions in each of them.
  static constexpr std::size_t kEasyNodes = 64;
  static constexpr std::int64_t kMostNodesOfParts = 4'096;
  static constexpr std::size_t kMostKept = 1 << 17;

  using Targets = std::vector<const ConditionList*>;
  bool AppendTargets(const Targets& targets, ConditionList* list);
  // A condition that is split into its ways, if there is one.
  std::optional<ConditionId> ChoiceIn(const ConditionList& list);
  // The nodes of all choices of ways.
  std::vector<NodeId> NodesOf(const ConditionList& list);
  NodeId NodeOf(const ConditionList& list);
  void Expand(NodeId id, Work& work);
  // Whether a text of at most so many characters is left behind some of `roots`; where `most_nodes`
  // are not enough to tell, nothing.
  std::optional<bool> Search(std::span<const NodeId> roots, std::uint32_t max_chars,
                             std::int64_t most_nodes, Work& work);
  // False where some conditions of a node, two or a few more, are known to have no text of at most
  // so many characters.
  bool HasTextForPairs(NodeId id, std::uint32_t max_chars, Work& work);
  bool HasTextForParts(NodeId id, std::uint32_t max_chars, Work& work);
  bool HasTextForPart(const ConditionList& part, NodeId whole, std::uint32_t max_chars, Work& work);
  // Whether a node that is open is worth looking behind.
  bool IsPromising(NodeId id, std::uint32_t chars, bool is_part, Frontier* frontier, Work& work);
  void Meet(NodeId to, const Visit& visit, Frontier* frontier) const;
  void KeepMissed(std::uint32_t max_chars, const Visits& visits);
  // Notes the way by which a search came to `last`, for which a text is known.
  void KeepFound(NodeId last, const Visits& visits);
  [[nodiscard]] std::u32string TextOf(NodeId id) const;
  void Forget();

  TermStore* store_;
  const std::int64_t max_nodes_;
  Conditions conditions_;
  ConditionSamples samples_;
  std::deque<Node> nodes_;
  absl::flat_hash_set<NodeId, HashOfList, SameList> node_ids_{0, HashOfList{&nodes_},
                                                              SameList{&nodes_}};
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SEARCH_H_
