// The rules of a grammar in groups that call each other, callees first.
//
// A group is a strongly connected component of the call graph, with the nodes of its rules' bodies,
// each once and after its children; for the most part callees come before callers here, too.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Rules that call one another, and what their bodies are made of.
struct RuleGroup {
  std::vector<RuleId> rules;
  std::vector<NodeId> nodes;
};

// Errors: those of the budget.
absl::StatusOr<std::vector<RuleGroup>> GroupRules(const GrammarIr& ir, Budget& budget);

// The nodes directly below `node`: its children, or what an object is made of.
void AppendParts(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_
