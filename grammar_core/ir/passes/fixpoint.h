// The least fixpoint of a yes/no property over the nodes and rules of an IR, such as "derives some
// text" or "derives the empty text".
//
// Each node waits for a number of its children (a member of an object counts as one); it has the
// property once they have. A rule call waits for the rule's body. Every edge is looked at once. An
// object with conditions has the property once those of its values that have it lead to its end.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// How the property of a node follows from its children.
enum class NodeNeeds : std::uint8_t { kNever, kAlways, kAnyChild, kAllChildren };

// The children of a node that its property may depend on: a call's is the body of its rule, an
// object's are the values of its required members.
std::vector<NodeId> DependedOn(const GrammarIr& ir, NodeId node);
// Appends them, for loops over many nodes.
void AppendDependedOn(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out);

// Whether the object `node` can be ended with the values and names that have the property. Errors:
// those of the budget.
absl::StatusOr<bool> CanBeEnded(const GrammarIr& ir, NodeId node, const std::vector<bool>& has,
                                Budget& budget);

// Whether `node` is an object with conditions, and if so appends what they are about.
bool AppendConditional(const GrammarIr& ir, NodeId node, std::vector<NodeId>* parts);

// Which nodes each node is needed by, in two lists for all.
class NodeUsers {
 public:
  // `needed`: the nodes that each node needs, one node after the other; those of `node` end at
  // `ends[node]`.
  NodeUsers(const std::vector<NodeId>& needed, const std::vector<std::uint32_t>& ends);

  // In ascending order; once for each time that a user needs `node`.
  [[nodiscard]] std::span<const NodeId> Of(NodeId node) const {
    return std::span(users_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  std::vector<std::uint32_t> begins_;
  std::vector<NodeId> users_;
};

// Stands for how many nodes an object with conditions waits for: it is asked, once nothing else is
// left to do.
inline constexpr std::uint32_t kAsks = std::numeric_limits<std::uint32_t>::max();

// The property of every node. `needs(node)` says how a node's follows from its DependedOn() nodes.
// Errors: those of the budget.
template <typename Needs>
absl::StatusOr<std::vector<bool>> LeastFixpoint(const GrammarIr& ir, Budget& budget, Needs needs) {
  const std::size_t count = ir.nodes.size();
  std::vector<NodeId> needed;
  std::vector<std::uint32_t> ends(count);
  std::vector<std::uint32_t> waiting(count, 0);  // for how many of those
  std::vector<bool> has(count, false);
  std::vector<NodeId> queue;
  std::vector<NodeId> to_ask;
  std::vector<bool> asking(count, false);
  const auto ask = [&](NodeId object) {
    if (!asking[object]) to_ask.push_back(object);
    asking[object] = true;
  };
  for (NodeId node = 0; node < count; ++node) {
    const NodeNeeds need = needs(node);
    const std::size_t before = needed.size();
    if (need != NodeNeeds::kNever && need != NodeNeeds::kAlways) {
      if (AppendConditional(ir, node, &needed)) {
        waiting[node] = kAsks;
        ask(node);
      } else {
        AppendDependedOn(ir, node, &needed);
        const bool is_any = need == NodeNeeds::kAnyChild;
        waiting[node] = is_any ? 1 : static_cast<std::uint32_t>(needed.size() - before);
      }
    }
    ends[node] = static_cast<std::uint32_t>(needed.size());
    const auto units = static_cast<std::int64_t>(1 + needed.size() - before);
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    if (need != NodeNeeds::kNever && waiting[node] == 0) queue.push_back(node);
  }
  const NodeUsers users(needed, ends);
  while (!queue.empty() || !to_ask.empty()) {
    if (queue.empty()) {
      const NodeId object = to_ask.back();
      to_ask.pop_back();
      asking[object] = false;
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      if (has[object]) continue;
      const absl::StatusOr<bool> can_end = CanBeEnded(ir, object, has, budget);
      if (!can_end.ok()) return can_end.status();
      if (*can_end) queue.push_back(object);
      continue;
    }
    const NodeId node = queue.back();
    queue.pop_back();
    has[node] = true;
    const auto units = static_cast<std::int64_t>(1 + users.Of(node).size());
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    for (const NodeId user : users.Of(node))
      if (waiting[user] == kAsks)
        ask(user);
      else if (waiting[user] > 0 && --waiting[user] == 0)
        queue.push_back(user);
  }
  return has;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_
