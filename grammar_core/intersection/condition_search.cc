// Emptiness of an intersection of regular languages, some of them complements, without its product
// automaton. A choice among the conditions is split, so that a node is a conjunction: the search is
// through a disjunctive normal form that is made on the fly, with the derivatives of the conjuncts.
// Best first, by the sum of what each conjunct still needs. That is no lower bound, so the first
// text that is found need not be the shortest. Each node keeps two bounds from search to search: a
// length that is too short, and the length of a known text. ShortestText() halves what is left
// between them.
//
// Three things keep a search small that finds nothing. Where a node has many conjuncts, each two
// are searched first, then a few that seem to contradict one another: a conjunct is added as long
// as the text found for those before does not meet it, those of few places first. The negation of
// a choice is several conjuncts, so one node is often a part of another one, and nothing is looked
// for behind the larger one. And what was found without regard to the length holds for all.
//
// Invariant  fewest is a lower bound and known an upper one of the node's shortest text, whatever
//            searches were given up.
// Cost       a unit of work for each node expanded and for each 8 conjuncts that are sorted.
// Source     De Wulf, Doyen, Henzinger and Raskin, "Antichains", 2006 (the subset automaton is
//            never built, and of two sets the smaller one is enough); Clarke et al.,
//            "Counterexample-guided abstraction refinement", 2000 (conjuncts that are added when
//            they refuse); Hart, Nilsson and Raphael 1968 (best-first search).
#include "grammar_core/intersection/condition_search.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/intersection/expanded_lists.h"
#include "grammar_core/ir/counts.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// Conditions of a list that are looked up or sorted in about a unit of work.
constexpr std::size_t kPartsPerUnit = 8;

// A character from lo to hi that is written as itself, in one byte, if there is one.
std::uint32_t PlainestOf(std::uint32_t lo, std::uint32_t hi) {
  for (std::uint32_t c = std::max<std::uint32_t>(lo, ' '); c <= std::min<std::uint32_t>(hi, '~');
       ++c) {
    if (IsPlain(c)) return c;
  }
  return lo;
}

// False where the target is no text.
bool AppendTarget(const ConditionList* target, ConditionList* list) {
  if (target == nullptr) return false;
  list->insert(list->end(), target->begin(), target->end());
  return true;
}

}  // namespace

// A bound of length is no condition, but for the fewest characters that it asks for.
bool ConditionSearch::Read(CharTerm term, Product* product) {
  const Term& both = store_->term(term);
  *product = {};
  const auto append = [&](CharTerm part) {
    const Term& length = store_->term(part);
    const bool is_length = length.kind == TermKind::kRepeat &&
                           AsRepeat<CharTerm>(length).max != kUnbounded &&
                           store_->IsAnyChar(AsRepeat<CharTerm>(length).body);
    if (!is_length) return conditions_.Append(part, &product->conditions);
    const auto [any_char, min, max] = AsRepeat<CharTerm>(length);
    product->max_chars = std::min(product->max_chars, max);
    if (min > 0)
      conditions_.Append(store_->Repeat(any_char, min, kUnbounded), &product->conditions);
    return true;
  };
  const bool is_some = both.kind == TermKind::kAnd
                           ? std::ranges::all_of(BranchesOf<CharTerm>(*store_, both), append)
                           : append(term);
  return is_some && conditions_.Sort(&product->conditions);
}

bool ConditionSearch::IsNullable(const Product& product) const {
  return std::ranges::all_of(product.conditions,
                             [&](ConditionId id) { return conditions_.nullable(id); });
}

// The cheapest answers first: the empty text, the lower bounds, a text that is known; then a
// search, whose text becomes a sample for the lists that follow.
bool ConditionSearch::HasText(const Product& product, Work& work) {
  if (IsNullable(product)) return true;
  for (const ConditionId id : product.conditions)
    if (conditions_.FewestChars(id) > product.max_chars) return false;
  if (samples_.HaveText(product.conditions, product.max_chars, work)) return true;
  if (nodes_.size() > kMostKept) Forget();
  const auto parts = static_cast<std::int64_t>(product.conditions.size());
  if (!work.Spend(1 + parts / static_cast<std::int64_t>(kPartsPerUnit))) return false;
  const std::vector<NodeId> nodes = NodesOf(product.conditions);
  const std::optional<bool> found = Search(nodes, product.max_chars, max_nodes_, work);
  if (!found.has_value())
    work.Fail(LimitExceeded("", "emptiness_states", max_nodes_, max_nodes_ + 1));
  if (!found.value_or(false)) return false;
  const auto known = [&](NodeId id) { return nodes_[id].known; };
  samples_.Add(TextOf(*std::ranges::min_element(nodes, {}, known)));
  return true;
}

// Halves what is left between the lengths that are known to be too short and that of a text.
std::optional<std::u32string> ConditionSearch::ShortestText(const Product& product, Work& work) {
  if (nodes_.size() > kMostKept) Forget();
  const std::vector<NodeId> nodes = NodesOf(product.conditions);
  std::uint32_t most = product.max_chars;
  while (!nodes.empty()) {
    const std::optional<bool> found = Search(nodes, most, max_nodes_, work);
    if (!found.has_value() || !work.ok()) return std::nullopt;
    const NodeId best =
        *std::ranges::min_element(nodes, {}, [&](NodeId id) { return nodes_[id].known; });
    const NodeId nearest =
        *std::ranges::min_element(nodes, {}, [&](NodeId id) { return nodes_[id].fewest; });
    const std::uint32_t known = nodes_[best].known;
    const std::uint32_t fewest = nodes_[nearest].fewest;
    if (known > product.max_chars) return std::nullopt;
    if (fewest >= known) return TextOf(best);
    most = fewest + (known - 1 - fewest) / 2;
  }
  return std::nullopt;
}

bool ConditionSearch::Follow(const Product& product, std::uint32_t character, Product* next,
                             Work& work) {
  if (product.max_chars == 0) return false;
  *next = {.conditions = {},
           .max_chars = product.max_chars == kNoEnd ? kNoEnd : product.max_chars - 1};
  for (const ConditionId id : product.conditions) {
    const auto* edge = FindEdge(conditions_.EdgesOf(id, work), character);
    if (edge == nullptr || !AppendTarget(edge->to, &next->conditions)) return false;
  }
  return conditions_.Sort(&next->conditions);
}

bool ConditionSearch::HasTextFrom(const Product& product, const Completions& first, Work& work) {
  if (product.max_chars == 0) return false;
  if (product.conditions.empty()) return true;
  std::vector<const Conditions::Edges*> lists;
  for (const ConditionId id : product.conditions) lists.push_back(&conditions_.EdgesOf(id, work));
  const std::uint32_t left = product.max_chars == kNoEnd ? kNoEnd : product.max_chars - 1;
  bool found = false;
  Targets last_targets;
  for (int i = 0; i < first.count; ++i) {
    SweepAll(lists, first.ranges[i], [&](std::uint32_t, std::uint32_t, const Targets& targets) {
      if (found || !work.ok() || targets == last_targets) return;
      last_targets = targets;
      Product next = {.conditions = {}, .max_chars = left};
      found = AppendTargets(targets, &next.conditions) && HasText(next, work);
    });
  }
  return found && work.ok();
}

bool ConditionSearch::AppendTargets(const Targets& targets, ConditionList* list) {
  for (const ConditionList* target : targets)
    if (!AppendTarget(target, list)) return false;
  return conditions_.Sort(list);
}

std::optional<ConditionId> ConditionSearch::ChoiceIn(const ConditionList& list) {
  for (const ConditionId id : list) {
    const std::size_t ways = conditions_.WaysOf(id).size();
    if (ways > 0 && ways <= kMostWays) return id;
  }
  return std::nullopt;
}

// A list {x|y, z} is the nodes {x, z} and {y, z}. Ways may hold choices of their own, so it goes on
// until none is left to split. With kMostChoices nodes the rest are kept as they are: a node may
// hold a choice, which is then derived as one condition.
std::vector<ConditionSearch::NodeId> ConditionSearch::NodesOf(const ConditionList& list) {
  if (!ChoiceIn(list).has_value()) return {NodeOf(list)};
  std::vector<NodeId> nodes;
  std::vector<ConditionList> open = {list};
  while (!open.empty()) {
    ConditionList at = std::move(open.back());
    open.pop_back();
    const std::optional<ConditionId> choice = ChoiceIn(at);
    if (!choice.has_value() || nodes.size() + open.size() >= kMostChoices) {
      nodes.push_back(NodeOf(at));
      continue;
    }
    std::erase(at, *choice);
    for (const ConditionList& way : conditions_.WaysOf(*choice)) {
      ConditionList next = at;
      next.insert(next.end(), way.begin(), way.end());
      if (conditions_.Sort(&next)) open.push_back(std::move(next));
    }
  }
  SortUnique(&nodes);
  return nodes;
}

ConditionSearch::NodeId ConditionSearch::NodeOf(const ConditionList& list) {
  if (const auto known = node_ids_.find(list); known != node_ids_.end()) return *known;
  const auto id = static_cast<NodeId>(nodes_.size());
  Node& node = nodes_.emplace_back();
  node.conditions = list;
  node_ids_.insert(id);
  held_bytes_ += static_cast<std::int64_t>(sizeof(Node) + 2 * sizeof(NodeId) +
                                           node.conditions.size() * sizeof(ConditionId));
  node.nullable = std::ranges::all_of(
      node.conditions, [&](ConditionId condition) { return conditions_.nullable(condition); });
  assert(std::ranges::is_sorted(list));  // else equal lists would be two nodes
  if (node.nullable) node.known = 0;
  for (const ConditionId condition : node.conditions) {
    const std::uint32_t fewest = conditions_.FewestChars(condition);
    node.fewest = std::max(node.fewest, fewest);
    node.sum = SaturatingAdd(node.sum, fewest);
  }
  return id;
}

// One step for each next node, by the plainest character that leads there: for the question whether
// a text is left, the others are the same. A node whose edges fail is not expanded and may be tried
// again.
void ConditionSearch::Expand(NodeId id, Work& work) {
  if (nodes_[id].is_expanded || !work.Spend()) return;
  std::vector<const Conditions::Edges*> lists;
  for (const ConditionId condition : nodes_[id].conditions)
    lists.push_back(&conditions_.EdgesOf(condition, work));
  if (!work.ok()) return;
  std::vector<Step> steps;
  std::vector<NodeId> nodes;
  Targets last_targets;
  ConditionList list;
  std::size_t parts = 0;
  SweepAll(lists, kAllCharacters, [&](std::uint32_t lo, std::uint32_t hi, const Targets& targets) {
    if (targets != last_targets) {
      last_targets = targets;
      list.clear();
      nodes = AppendTargets(targets, &list) ? NodesOf(list) : std::vector<NodeId>();
      parts += list.size() * (1 + nodes.size());
    }
    parts += targets.size() / 2 + nodes.size();
    for (const NodeId node : nodes) steps.push_back({PlainestOf(lo, hi), node});
  });
  std::ranges::sort(steps, {}, [](const Step& step) {
    return std::tuple(step.to, !IsPlain(step.character), step.character);
  });
  const auto rest = std::ranges::unique(steps, std::ranges::equal_to{}, &Step::to);
  steps.erase(rest.begin(), rest.end());
  std::erase_if(steps, [&](const Step& step) { return nodes_[step.to].fewest == kNoEnd; });
  steps.shrink_to_fit();
  held_bytes_ += static_cast<std::int64_t>(steps.size() * sizeof(Step));
  nodes_[id].steps = std::move(steps);
  nodes_[id].is_expanded = true;
  work.Spend(static_cast<std::int64_t>(parts / kPartsPerUnit));
}

// What a search has met. Its open nodes: the nearest first, as far as all conditions one after the
// other tell.
struct ConditionSearch::Frontier {
  struct Open {
    std::uint32_t estimate;
    std::uint32_t chars;
    NodeId node;
    bool operator<(const Open& other) const {
      return std::tuple(other.estimate, chars, node) <
             std::tuple(estimate, other.chars, other.node);
    }
  };
  const std::uint32_t max_chars;
  Visits visits;
  std::priority_queue<Open> open;
  // A node for which a short enough text is known.
  std::optional<NodeId> last;
  ExpandedLists expanded;
  // Whether something was not looked at because it needs too many characters.
  bool is_cut = false;
};

// A node that is met again by a shorter way is opened again; its older entry in the queue is
// skipped when it comes up. Nodes that are known to need too many characters are not opened at all.
void ConditionSearch::Meet(NodeId to, const Visit& visit, Frontier* frontier) const {
  const Node& node = nodes_[to];
  assert(node.fewest <= node.known);  // the two bounds of its shortest text
  if (node.fewest == kNoEnd) return;
  if (SaturatingAdd(visit.chars, node.fewest) > frontier->max_chars) {
    frontier->is_cut = true;
    return;
  }
  const auto [at, is_new] = frontier->visits.try_emplace(to, visit);
  if (!is_new) {
    if (at->second.chars <= visit.chars) return;
    at->second = visit;
  }
  const bool is_found =
      node.known != kNoEnd && SaturatingAdd(visit.chars, node.known) <= frontier->max_chars;
  if (is_found) frontier->last = to;
  frontier->open.push({SaturatingAdd(visit.chars, node.sum), visit.chars, to});
}

// Ends: a node is opened again only by a shorter way, and with more than most_nodes the search is
// given up. Bounds are kept only of searches that came to an end.
std::optional<bool> ConditionSearch::Search(std::span<const NodeId> roots, std::uint32_t max_chars,
                                            std::int64_t most_nodes, Work& work) {
  Frontier frontier = {
      .max_chars = max_chars, .visits = {}, .open = {}, .last = {}, .expanded = {}};
  for (const NodeId root : roots) Meet(root, {0, root, 0}, &frontier);
  while (!frontier.open.empty() && !frontier.last.has_value() && work.ok()) {
    const Frontier::Open at = frontier.open.top();
    frontier.open.pop();
    if (frontier.visits[at.node].chars < at.chars) continue;
    if (static_cast<std::int64_t>(frontier.visits.size()) > most_nodes) return std::nullopt;
    if (!IsPromising(at.node, at.chars, most_nodes < max_nodes_, &frontier, work)) continue;
    Expand(at.node, work);
    frontier.expanded.Add(nodes_[at.node].conditions, at.chars);
    for (const Step& step : nodes_[at.node].steps) {
      Meet(step.to, {at.chars + 1, at.node, step.character}, &frontier);
      if (frontier.last.has_value()) break;
    }
  }
  if (frontier.last.has_value())
    KeepFound(*frontier.last, frontier.visits);
  else if (work.ok())
    KeepMissed(frontier.is_cut ? max_chars : kNoEnd, frontier.visits);
  return frontier.last.has_value();
}

// A search for parts is not made small by searches for parts of them.
bool ConditionSearch::IsPromising(NodeId id, std::uint32_t chars, bool is_part, Frontier* frontier,
                                  Work& work) {
  if (frontier->expanded.HavePartOf(nodes_[id].conditions, chars, work)) return false;
  const std::uint32_t max_chars = frontier->max_chars;
  const std::uint32_t left = max_chars == kNoEnd ? kNoEnd : max_chars - chars;
  const bool is_hard = chars == 0 || frontier->visits.size() > kEasyNodes;
  const bool has_text = (max_chars == kNoEnd || HasTextForPairs(id, left, work)) &&
                        (is_part || !is_hard || HasTextForParts(id, left, work));
  if (!has_text && nodes_[id].fewest != kNoEnd) frontier->is_cut = true;
  return has_text;
}

// A search for two conditions meets fewer nodes than one for all, so a contradiction of two is
// found before the whole list is searched.
bool ConditionSearch::HasTextForPairs(NodeId id, std::uint32_t max_chars, Work& work) {
  const ConditionList& list = nodes_[id].conditions;
  if (list.size() < 3 || nodes_[id].pairs_known <= max_chars) return true;
  const auto has_text = [&](const ConditionList& part) {
    return HasTextForPart(part, id, max_chars, work);
  };
  if (!samples_.VisitUnmetPairs(list, max_chars, work, has_text)) return false;
  nodes_[id].pairs_known = max_chars;
  return true;
}

bool ConditionSearch::HasTextForParts(NodeId id, std::uint32_t max_chars, Work& work) {
  if (nodes_[id].parts_known <= max_chars) return true;
  const auto has_text = [&](const ConditionList& part) {
    return HasTextForPart(part, id, max_chars, work);
  };
  if (!samples_.VisitRefused(nodes_[id].conditions, max_chars, work, has_text)) return false;
  if (work.ok()) nodes_[id].parts_known = max_chars;
  return true;
}

// A part is a node like others: what is learnt of it serves every list that holds it. A part whose
// search was given up counts as one that has a text, and is not searched again.
bool ConditionSearch::HasTextForPart(const ConditionList& part, NodeId whole,
                                     std::uint32_t max_chars, Work& work) {
  const NodeId id = NodeOf(part);
  Node& node = nodes_[id];
  if (node.known > max_chars && node.fewest <= max_chars && !node.is_given_up) {
    const std::int64_t most_nodes = std::min(kMostNodesOfParts, max_nodes_ - 1);
    node.is_given_up = !Search(std::span(&id, 1), max_chars, most_nodes, work).has_value();
  }
  if (node.known <= max_chars) samples_.Add(TextOf(id));
  if (node.fewest <= max_chars) return true;
  nodes_[whole].fewest = std::max(nodes_[whole].fewest, node.fewest);
  return false;
}

// Nothing was left to look at: no text is short enough, of no node that was met.
void ConditionSearch::KeepMissed(std::uint32_t max_chars, const Visits& visits) {
  for (const auto& [node, visit] : visits) {
    const std::uint32_t more = max_chars == kNoEnd ? kNoEnd : max_chars - visit.chars + 1;
    nodes_[node].fewest = std::max(nodes_[node].fewest, more);
  }
}

// Back along the way to the root: each node on it has a text one character longer than the next
// one's.
void ConditionSearch::KeepFound(NodeId last, const Visits& visits) {
  NodeId at = last;
  for (const Visit* visit = &visits.at(at); visit->from != at; visit = &visits.at(at)) {
    Node& from = nodes_[visit->from];
    const std::uint32_t chars = SaturatingAdd(nodes_[at].known, 1);
    if (chars < from.known) {
      from.known = chars;
      from.begin = {visit->character, at};
    }
    at = visit->from;
  }
}

// Requires that a text is known.
std::u32string ConditionSearch::TextOf(NodeId id) const {
  std::u32string text;
  assert(nodes_[id].known != kNoEnd);
  for (; !nodes_[id].nullable; id = nodes_[id].begin.to) text.push_back(nodes_[id].begin.character);
  return text;
}

// Between searches only, as a search holds numbers of nodes. Samples stay: they know conditions
// only.
void ConditionSearch::Forget() {
  nodes_.clear();
  node_ids_.clear();
  held_bytes_ = 0;
}

std::int64_t ConditionSearch::held_bytes() const {
  return held_bytes_ + conditions_.held_bytes() + samples_.held_bytes();
}

}  // namespace maskd
