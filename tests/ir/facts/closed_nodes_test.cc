#include "grammar_core/ir/facts/closed_nodes.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using Nodes = std::vector<std::pair<std::string, NodeId>>;

// No two of them are equal.
Nodes ClosedOnes(IrBuilder& b) {
  const NodeId word = b.Encode(Spelling::kUtf8, b.Text("word"));
  const NodeId digit = b.AnyByteOf("0123456789");
  const NodeId letters = b.Chars(CharSet({{'a', 'z'}}));
  const NodeId any = b.Repeat(b.AnyChar(), 0, kUnbounded);
  return {{"nothing", b.Nothing()},
          {"empty", b.Empty()},
          {"bytes", b.Bytes("word")},
          {"other bytes", b.Bytes("words")},
          {"a set", digit},
          {"UTF-8", word},
          {"JSON", b.Encode(Spelling::kJsonString, b.Text("word"))},
          {"texts", b.TextSet({"ab", "cd"})},
          {"other texts", b.TextSet({"a", "bcd"})},
          {"letters", letters},
          {"a number", b.Number({})},
          {"another number", b.Number({.integer_digits = 3})},
          {"up to two", b.Repeat(digit, 0, 2)},
          {"one or two", b.Repeat(digit, 1, 2)},
          {"in order", b.Concat({digit, b.Bytes("word"), word})},
          {"the other way round", b.Concat({word, b.Bytes("word"), digit})},
          {"either", b.Alt({word, b.Bytes("no"), b.Bytes("yes")})},
          {"both", b.And({b.Repeat(letters, 1, 3), b.Not(b.Text("no"))})},
          {"not", b.Not(b.Text("no"))},
          {"any", any},
          {"limited", b.Limited(word, 3)},
          {"a break", b.Break(2)},
          {"a block", b.Block('[', digit, 2)},
          {"another block", b.Block('{', digit, 2)}};
}

// Made in one order and in the other, so that nodes have other numbers.
TEST(ClosedNodes, EqualOnesHaveEqualHashesAndNoOthers) {
  IrBuilder first{Limits()};
  const Nodes nodes = ClosedOnes(first);
  IrBuilder second{Limits()};
  second.Alt({second.Bytes("yes"), second.Bytes("other")});
  second.Bytes("no");
  second.Not(second.TextSet({"no", "yes"}));
  const Nodes again = ClosedOnes(second);
  const std::vector<Hash128> hashes = HashClosedNodes(first.ir());
  const std::vector<Hash128> others = HashClosedNodes(second.ir());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& [name, node] = nodes[i];
    EXPECT_NE(hashes[node], Hash128{}) << name;
    for (const auto& [other_name, other] : again)
      EXPECT_EQ(hashes[node] == others[other], name == other_name) << name << ", " << other_name;
  }
}

TEST(ClosedNodes, WhatCallsOrHoldsPlacesIsNone) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  const NodeId call = b.Call(rule);
  const NodeId token = b.Tokens({.ids = {{1, 1}}});
  const NodeId object =
      b.Object({.members = {}, .others = {}, .space = b.Empty(), .any_order = false});
  const NodeId array = b.Distinct(b.Bytes("[]"), {}, {});
  for (const NodeId node : {call, token, object, array}) {
    const NodeId within = b.Concat({b.Bytes("x"), node});
    EXPECT_EQ(HashClosedNodes(b.ir())[node], Hash128{});
    EXPECT_EQ(HashClosedNodes(b.ir())[within], Hash128{});
  }
}

}  // namespace
}  // namespace maskd
