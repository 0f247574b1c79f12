#include "grammar_core/ir/passes/compact.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/ir/passes/every_kind.h"

namespace maskd {
namespace {

// The grammar of every kind of node. `litter`: with as many nodes and rules that nothing reaches
// between them.
GrammarIr Grammar(bool litter, std::vector<bool>* node_reached, std::vector<bool>* rule_reached) {
  IrBuilder b{Limits()};
  if (litter) {
    const RuleId unused = b.DeclareRule("unused", "");
    b.DefineRule(unused, b.Concat({b.Bytes("un"), b.AnyByteOf("used"), b.Break(7)}));
  }
  const std::size_t before = b.ir().nodes.size();
  const RuleId called = b.DeclareRule("called", "1:1");
  const RuleId start = b.DeclareRule("start", "2:1");
  b.DefineRule(called, b.Bytes("c"));
  b.DefineRule(start, b.Concat(NodesOfEveryKind(called, &b)));
  const std::size_t behind = b.ir().nodes.size();
  if (litter) b.DefineRule(b.DeclareRule("last", ""), b.Block('[', b.Bytes("last"), 1));
  GrammarIr ir = *std::move(b).Build(start);
  node_reached->assign(ir.nodes.size(), false);
  std::fill(node_reached->begin() + static_cast<std::ptrdiff_t>(before),
            node_reached->begin() + static_cast<std::ptrdiff_t>(behind), true);
  rule_reached->assign(ir.rules.size(), false);
  (*rule_reached)[called] = (*rule_reached)[start] = true;
  return ir;
}

TEST(Compact, LeavesWhatABuilderWouldHaveMade) {
  std::vector<bool> nodes;
  std::vector<bool> rules;
  const GrammarIr made = Grammar(false, &nodes, &rules);
  GrammarIr littered = Grammar(true, &nodes, &rules);
  ASSERT_GT(littered.nodes.size(), made.nodes.size());
  const GrammarIr compact = Compact(std::move(littered), nodes, rules);
  EXPECT_EQ(PrintIr(compact), PrintIr(made));
  EXPECT_EQ(compact.nodes.size(), made.nodes.size());
  EXPECT_EQ(compact.children, made.children);
  EXPECT_EQ(compact.byte_strings, made.byte_strings);
  ASSERT_EQ(compact.rules.size(), 2);
  EXPECT_EQ(compact.rules[compact.start].name, "start");
  EXPECT_EQ(compact.rules[compact.start].place, "2:1");
}

TEST(Compact, NothingAndEmptyStay) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const NodeId body = b.Bytes("a");
  b.DefineRule(start, body);
  GrammarIr ir = *std::move(b).Build(start);
  std::vector<bool> reached(ir.nodes.size(), false);
  reached[body] = true;
  const GrammarIr compact = Compact(std::move(ir), reached, {true});
  ASSERT_EQ(compact.nodes.size(), 3);
  EXPECT_EQ(compact.nodes[0].kind, IrKind::kNothing);
  EXPECT_EQ(compact.nodes[1].kind, IrKind::kEmpty);
  EXPECT_EQ(compact.nodes[2].kind, IrKind::kBytes);
}

}  // namespace
}  // namespace maskd
