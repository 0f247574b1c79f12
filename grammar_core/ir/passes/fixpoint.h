// The least fixpoint of a yes/no property over the nodes and rules of an IR, such as "derives some
// text" or "derives the empty text".
//
// Each node waits for a number of its children (a member of an object counts as one); it has the
// property once they have. A rule call waits for the rule's body. Every edge is looked at once.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_

#include <cstdint>
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

// The property of every node. `needs(node)` says how a node's follows from its DependedOn() nodes.
// Errors: those of the budget.
template <typename Needs>
absl::StatusOr<std::vector<bool>> LeastFixpoint(const GrammarIr& ir, Budget& budget, Needs needs) {
  const std::size_t count = ir.nodes.size();
  std::vector<std::vector<NodeId>> users(count);
  std::vector<std::size_t> waiting(count, 0);
  std::vector<bool> has(count, false);
  std::vector<NodeId> queue;
  for (NodeId node = 0; node < count; ++node) {
    const NodeNeeds need = needs(node);
    std::size_t edges = 0;
    if (need != NodeNeeds::kNever && need != NodeNeeds::kAlways) {
      const std::vector<NodeId> children = DependedOn(ir, node);
      edges = children.size();
      waiting[node] = need == NodeNeeds::kAnyChild ? 1 : edges;
      for (const NodeId child : children) users[child].push_back(node);
    }
    const auto units = static_cast<std::int64_t>(1 + edges);
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    if (need != NodeNeeds::kNever && waiting[node] == 0) queue.push_back(node);
  }
  while (!queue.empty()) {
    const NodeId node = queue.back();
    queue.pop_back();
    has[node] = true;
    const auto units = static_cast<std::int64_t>(1 + users[node].size());
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    for (const NodeId user : users[node]) {
      if (waiting[user] > 0 && --waiting[user] == 0) queue.push_back(user);
    }
  }
  return has;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_FIXPOINT_H_
