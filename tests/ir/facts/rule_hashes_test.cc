#include "grammar_core/ir/facts/rule_hashes.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/facts/closed_nodes.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

// A list of objects of one member, and that list or a word.
struct Rules {
  RuleId choice;
  RuleId list;
  RuleId object;
};
Rules Declare(IrBuilder& b, const std::string& member) {
  const Rules rules = {b.DeclareRule("choice", ""), b.DeclareRule("list", ""),
                       b.DeclareRule("object", "")};
  ObjectSpec spec;
  spec.members.push_back({.name = member, .value = b.Bytes("1"), .required = true});
  spec.space = b.Empty();
  b.DefineRule(rules.object, b.Object(spec));
  b.DefineRule(rules.list, b.Concat({b.Bytes("["), b.Repeat(b.Call(rules.object), 0, kUnbounded),
                                     b.Bytes("]")}));
  b.DefineRule(rules.choice, b.Alt({b.Bytes("word"), b.Call(rules.list), b.Call(rules.choice)}));
  return rules;
}

std::vector<Hash128> HashesOf(const IrBuilder& b) {
  return HashRules(b.ir(), HashClosedNodes(b.ir()));
}

TEST(RuleHashes, EqualRulesHaveEqualHashesWhateverTheirNumbers) {
  IrBuilder first{Limits()};
  const Rules x = Declare(first, "a");
  IrBuilder second{Limits()};
  second.Bytes("]");
  const RuleId other = second.DeclareRule("other", "");
  second.DefineRule(other, second.Alt({second.Bytes("word"), second.Bytes("[")}));
  second.Call(second.DeclareRule("unused", ""));
  const Rules y = Declare(second, "a");
  const std::vector<Hash128> ones = HashesOf(first);
  const std::vector<Hash128> others = HashesOf(second);
  EXPECT_TRUE(ones[x.choice] == others[y.choice]);
  EXPECT_TRUE(ones[x.list] == others[y.list]);
  EXPECT_TRUE(ones[x.object] == others[y.object]);
  EXPECT_FALSE(ones[x.choice] == ones[x.list]);
  EXPECT_FALSE(ones[x.choice] == others[other]);
}

// Also where what differs is behind calls.
TEST(RuleHashes, OtherRulesHaveOtherHashes) {
  IrBuilder b{Limits()};
  const Rules x = Declare(b, "a");
  const Rules y = Declare(b, "b");
  const std::vector<Hash128> hashes = HashesOf(b);
  EXPECT_FALSE(hashes[x.choice] == hashes[y.choice]);
  EXPECT_FALSE(hashes[x.list] == hashes[y.list]);
  EXPECT_FALSE(hashes[x.object] == hashes[y.object]);
}

}  // namespace
}  // namespace maskd
