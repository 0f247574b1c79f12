// Bounds against the number of values, counted by hand.
#include "grammar_core/ir/passes/least_values.h"

#include <functional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using B = IrBuilder&;

NodeId Json(B b, NodeId characters) {
  return b.Concat({b.Bytes("\""), b.Encode(Spelling::kJsonString, characters), b.Bytes("\"")});
}

NodeId Any(B b, std::uint32_t min = 0) { return b.Repeat(b.AnyChar(), min, kUnbounded); }

NodeId Numbers(B b, const char* min, const char* max, const char* step, bool open = false) {
  NumberSpec spec;
  spec.intervals = {{ReadDecimal(min), ReadDecimal(max), open, open}};
  if (*step != '\0') spec.multiple_of = {ReadDecimal(step)};
  return b.Number(spec);
}

NodeId Booleans(B b) { return b.Alt({b.Bytes("true"), b.Bytes("false")}); }

ObjectSpec Members(B b, std::vector<ObjectSpec::Member> members) {
  return {std::move(members), {}, b.Empty(), false};
}

struct Case {
  const char* name;
  // The body of the start, which is `self`.
  std::function<NodeId(B, NodeId self)> make;
  std::int64_t values;  // that there are; kAmpleTexts for as many or more
  std::int64_t found;   // of them, at least
};

class LeastValuesTest : public testing::TestWithParam<Case> {};

TEST_P(LeastValuesTest, IsABoundFromBelow) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, GetParam().make(b, b.Call(start)));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  LeastValues values(ir);
  ASSERT_TRUE(values.Find(budget).ok());
  EXPECT_LE(values.Of(ir.rules[start].body), GetParam().values) << PrintIr(ir);
  EXPECT_GE(values.Of(ir.rules[start].body), GetParam().found) << PrintIr(ir);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, LeastValuesTest,
    testing::ValuesIn(std::vector<Case>{
        {"Word", [](B b, NodeId) { return b.Bytes("null"); }, 1, 1},
        {"Words", [](B b, NodeId) { return b.Alt({Booleans(b), b.Bytes("null")}); }, 3, 3},
        {"SameNumberTwice", [](B b, NodeId) { return b.Alt({b.Bytes("1"), b.Bytes("1.0")}); }, 1,
         1},
        {"WhiteSpace",
         [](B b, NodeId) {
           return b.Concat({b.Repeat(b.AnyByteOf(" \n\t"), 0, 20), b.Bytes("1")});
         },
         1, 1},
        {"Strings", [](B b, NodeId) { return Json(b, b.TextSet({"x", "yy", "zzz"})); }, 3, 3},
        {"OneCharacter", [](B b, NodeId) { return Json(b, b.Chars(CharSet({{'a', 'j'}}))); }, 10,
         10},
        {"ThreeCharacters",
         [](B b, NodeId) { return Json(b, b.Repeat(b.Chars(CharSet({{'a', 'd'}})), 3, 3)); }, 64,
         64},
        {"UpToTwoCharacters",
         [](B b, NodeId) { return Json(b, b.Repeat(b.Chars(CharSet({{'a', 'b'}})), 0, 2)); }, 7, 4},
        {"AnyString", [](B b, NodeId) { return Json(b, Any(b)); }, kAmpleTexts, kAmpleTexts},
        {"AnyStringButSome",
         [](B b, NodeId) { return Json(b, b.And({Any(b), b.Not(b.TextSet({"no", "none"}))})); },
         kAmpleTexts, kAmpleTexts},
        {"ListedButSome",
         [](B b, NodeId) {
           return Json(b, b.And({b.TextSet({"aa", "bb", "cc"}), b.Not(b.TextSet({"aa", "cc"}))}));
         },
         1, 1},
        {"ListedAndLong",
         [](B b, NodeId) { return Json(b, b.And({b.TextSet({"a", "bb", "ccc"}), Any(b, 3)})); }, 1,
         0},
        {"Integers", [](B b, NodeId) { return Numbers(b, "-3", "6", "1"); }, 10, 10},
        {"IntegersBetween", [](B b, NodeId) { return Numbers(b, "-3", "6", "1", true); }, 8, 8},
        {"IntegersBetweenFractions", [](B b, NodeId) { return Numbers(b, "-2.5", "6.5", "1"); }, 9,
         9},
        {"BelowZero", [](B b, NodeId) { return Numbers(b, "-12", "-1", "5"); }, 2, 2},
        {"Halves", [](B b, NodeId) { return Numbers(b, "0", "2", "0.5"); }, 5, 5},
        {"OneNumber", [](B b, NodeId) { return Numbers(b, "1.5", "1.5", ""); }, 1, 1},
        {"AnyNumber", [](B b, NodeId) { return b.Number({}); }, kAmpleTexts, kAmpleTexts},
        {"Between", [](B b, NodeId) { return Numbers(b, "0", "1", ""); }, kAmpleTexts, kAmpleTexts},
        {"EmptyObject", [](B b, NodeId) { return b.Object(Members(b, {})); }, 1, 1},
        {"RequiredMembers",
         [](B b, NodeId) {
           return b.Object(
               Members(b, {{"a", Booleans(b), true}, {"b", Numbers(b, "1", "3", "1"), true}}));
         },
         6, 6},
        {"OtherMember",
         [](B b, NodeId) { return b.Object(Members(b, {{"a", Booleans(b), false}})); }, 3, 2},
        {"NoMemberMore",
         [](B b, NodeId) {
           ObjectSpec spec = Members(b, {{"a", b.Bytes("1"), true}, {"b", Booleans(b), false}});
           spec.max_members = 1;
           return b.Object(spec);
         },
         1, 1},
        {"AnyNames",
         [](B b, NodeId) {
           ObjectSpec spec = Members(b, {});
           spec.others = {{Any(b), b.Bytes("1")}};
           return b.Object(spec);
         },
         kAmpleTexts, kAmpleTexts},
        {"DistinctStrings",
         [](B b, NodeId) {
           ObjectSpec spec = Members(b, {});
           spec.others = {{Any(b), b.Empty()}};
           spec.is_array = true;
           return b.Object(spec);
         },
         kAmpleTexts, kAmpleTexts},
        {"ArrayOfNone",
         [](B b, NodeId) {
           ObjectSpec spec = Members(b, {{"a", b.Empty(), false}});
           spec.is_array = true;
           spec.max_members = 0;
           return b.Object(spec);
         },
         1, 1},
        {"Nested",
         [](B b, NodeId self) {
           const NodeId inner = b.Object(Members(b, {{"a", self, true}}));
           return b.Alt({Booleans(b), inner});
         },
         kAmpleTexts, 2},
        {"DistinctPair",
         [](B b, NodeId) {
           const NodeId pair =
               b.Concat({b.Bytes("["), Booleans(b), b.Bytes(","), Booleans(b), b.Bytes("]")});
           return b.Distinct(pair, {}, {"", "uniqueItems", 2});
         },
         2, 1},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LeastValues, TheBudgetHolds) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, b.Bytes("1"));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget spent(Budget::Bounds{.work = 0});
  LeastValues values(ir);
  EXPECT_EQ(values.Find(spent).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
