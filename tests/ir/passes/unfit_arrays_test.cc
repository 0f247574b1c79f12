#include "grammar_core/ir/passes/unfit_arrays.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using B = IrBuilder&;

NodeId Array(B b, NodeId item) {
  const NodeId more = b.Repeat(b.Concat({b.Bytes(","), item}), 0, kUnbounded);
  return b.Concat({b.Bytes("["), item, more, b.Bytes("]")});
}

NodeId Small(B b) { return b.AnyByteOf("123"); }

NodeId NumbersUpTo(B b, const char* max) {
  NumberSpec spec;
  spec.intervals = {{ReadDecimal("0"), ReadDecimal(max), true}};
  return b.Number(spec);
}

// An object of names out of `names` with value 1, two of them at least.
NodeId ObjectOf(B b, NodeId names) {
  ObjectSpec spec = {{}, {{names, b.Bytes("1")}}, b.Empty(), true};
  spec.min_members = 2;
  return b.Object(spec);
}

struct Case {
  const char* name;
  std::function<NodeId(B)> distinct;
  // A word of what is said; empty where the engine can hold the array to it.
  const char* why;
};

class UnfitArraysTest : public testing::TestWithParam<Case> {};

TEST_P(UnfitArraysTest, SaysWhy) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const NodeId distinct = GetParam().distinct(b);
  b.DefineRule(start, b.Concat({b.Bytes(" "), distinct}));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  const std::vector<UnfitArray> found = *FindUnfitArrays(ir, budget);
  if (*GetParam().why == '\0') {
    EXPECT_TRUE(found.empty()) << found[0].why;
    return;
  }
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].node, distinct);
  EXPECT_THAT(std::string(found[0].why), testing::HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    Arrays, UnfitArraysTest,
    testing::ValuesIn(std::vector<Case>{
        {"OfFewValues", [](B b) { return b.Distinct(Array(b, Small(b)), {}, {}); }, ""},
        {"OfAnyNumbers", [](B b) { return b.Distinct(Array(b, b.Number({})), {}, {}); }, ""},
        // Beside two others, an item of two values may have none left.
        {"FewValuesBeside",
         [](B b) {
           const NodeId word = b.Alt({b.Bytes("true"), b.Bytes("false")});
           return b.Distinct(Array(b, word), {word}, {"", "uniqueItems", 3});
         },
         "few values"},
        {"EnoughValuesBeside",
         [](B b) {
           const NodeId word = b.Alt({b.Bytes("true"), b.Bytes("false")});
           return b.Distinct(Array(b, word), {word}, {"", "uniqueItems", 2});
         },
         ""},
        {"ManyDigits", [](B b) { return b.Distinct(Array(b, NumbersUpTo(b, "1e-70")), {}, {}); },
         "digits"},
        {"ManyDigitsWithinAnItem",
         [](B b) {
           const NodeId inner =
               b.Object({{{"a", NumbersUpTo(b, "1e-70"), true}}, {}, b.Empty(), false});
           return b.Distinct(Array(b, inner), {}, {});
         },
         "digits"},
        {"FewDigits", [](B b) { return b.Distinct(Array(b, NumbersUpTo(b, "0.001")), {}, {}); },
         ""},
        {"FewNames",
         [](B b) {
           const NodeId names = b.Chars(CharSet({{'a', 'a'}}));
           return b.Distinct(Array(b, ObjectOf(b, names)), {}, {});
         },
         "names"},
        {"AnyNames",
         [](B b) {
           const NodeId names = b.Repeat(b.AnyChar(), 0, kUnbounded);
           return b.Distinct(Array(b, ObjectOf(b, names)), {}, {});
         },
         ""},
    }),
    [](const auto& test) { return test.param.name; });

// As a caller does with what was found.
TEST(UnfitArrays, AForgottenArrayIsItsFirstChildAlone) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const NodeId array = Array(b, Small(b));
  const NodeId distinct = b.Distinct(array, {Small(b), b.Bytes("1")}, {"", "uniqueItems", 9});
  b.DefineRule(start, distinct);
  GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  ASSERT_EQ(FindUnfitArrays(ir, budget)->size(), 1);
  ForgetDistinct(distinct, &ir);
  EXPECT_TRUE(FindUnfitArrays(ir, budget)->empty());
  const IrNode& node = ir.nodes[distinct];
  EXPECT_NE(node.kind, IrKind::kDistinct);
  ASSERT_EQ(node.child_count, 1);
  EXPECT_EQ(ir.children[node.first_child], array);
}

TEST(UnfitArrays, TheBudgetHolds) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, b.Distinct(Array(b, Small(b)), {}, {}));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget spent(Budget::Bounds{.work = 0});
  EXPECT_EQ(FindUnfitArrays(ir, spent).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
