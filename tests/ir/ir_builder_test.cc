#include "grammar_core/ir/ir_builder.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct FormCase {
  const char* name;
  std::function<NodeId(IrBuilder&)> make;
  // The right-hand side as it prints.
  const char* printed;
};

class NormalFormTest : public testing::TestWithParam<FormCase> {};

std::string PrintedBody(const std::function<NodeId(IrBuilder&)>& make) {
  IrBuilder b{Limits()};
  const RuleId other = b.DeclareRule("other", "");
  b.DefineRule(other, b.Bytes("o"));
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, make(b));
  absl::StatusOr<GrammarIr> ir = std::move(b).Build(start);
  if (!ir.ok()) return ir.status().ToString();
  const std::string printed = PrintIr(*ir);
  const std::string head = "r1 \"start\" = ";
  const std::size_t at = printed.find(head) + head.size();
  return printed.substr(at, printed.find('\n', at) - at);
}

TEST_P(NormalFormTest, Prints) { EXPECT_EQ(PrintedBody(GetParam().make), GetParam().printed); }

using B = IrBuilder&;

INSTANTIATE_TEST_SUITE_P(
    Forms, NormalFormTest,
    testing::ValuesIn(std::vector<FormCase>{
        {"EmptyBytes", [](B b) { return b.Bytes(""); }, "empty"},
        {"EmptyText", [](B b) { return b.Text(""); }, "empty"},
        {"EmptyByteSet", [](B b) { return b.ByteSet({}); }, "nothing"},
        {"OneByteSet", [](B b) { return b.AnyByteOf("xx"); }, "b\"x\""},
        {"ByteSet", [](B b) { return b.AnyByteOf("cabz"); }, "b[a-cz]"},
        {"OneCharSet", [](B b) { return b.Chars(CharSet::One('x')); }, "\"x\""},
        {"EmptyCharSet", [](B b) { return b.Chars(CharSet()); }, "nothing"},
        {"EncodedNothing", [](B b) { return b.Encode(Spelling::kUtf8, b.Nothing()); }, "nothing"},
        {"EncodedEmpty", [](B b) { return b.Encode(Spelling::kUtf8, b.Empty()); }, "empty"},
        {"ConcatOfNone", [](B b) { return b.Concat({}); }, "empty"},
        {"ConcatOfOne", [](B b) { return b.Concat({b.Empty(), b.Call(0)}); }, "r0"},
        {"ConcatWithNothing", [](B b) { return b.Concat({b.Call(0), b.Nothing()}); }, "nothing"},
        {"ConcatFlattens",
         [](B b) { return b.Concat({b.Concat({b.Call(0), b.Bytes("a")}), b.Call(0)}); },
         "(r0 b\"a\" r0)"},
        {"ConcatJoinsBytes",
         [](B b) { return b.Concat({b.Bytes("a"), b.Concat({b.Bytes("b"), b.Call(0)})}); },
         "(b\"ab\" r0)"},
        {"ConcatJoinsText",
         [](B b) { return b.Concat({b.Text("a"), b.Empty(), b.Text("\xC3\xA9")}); },
         "\"a\xC3\xA9\""},
        {"AltOfNone", [](B b) { return b.Alt({}); }, "nothing"},
        {"AltDropsNothing", [](B b) { return b.Alt({b.Nothing(), b.Call(0)}); }, "r0"},
        {"AltDropsTwins", [](B b) { return b.Alt({b.Call(0), b.Call(0)}); }, "r0"},
        {"AltFlattens",
         [](B b) { return b.Alt({b.Alt({b.Bytes("aa"), b.Bytes("bb")}), b.Call(0)}); },
         "(b\"aa\" | b\"bb\" | r0)"},
        {"AltMergesBytes", [](B b) { return b.Alt({b.Bytes("a"), b.AnyByteOf("bc")}); }, "b[a-c]"},
        {"AltMergesChars", [](B b) { return b.Alt({b.Chars(CharSet({{'a', 'c'}})), b.Text("d")}); },
         "[a-d]"},
        {"AltMergesOneCharTexts", [](B b) { return b.Alt({b.Text("a"), b.Text("b")}); }, "[a-b]"},
        {"AltMergesTexts",
         [](B b) { return b.Alt({b.Text("ab"), b.TextSet({"c", "de"}), b.Text("ab")}); },
         "{\"ab\", \"c\", \"de\"}"},
        {"AltKeepsCharsApartFromLongTexts",
         [](B b) { return b.Alt({b.Text("ab"), b.Text("x"), b.Chars(CharSet({{'a', 'c'}}))}); },
         "(\"ab\" | [a-cx])"},
        {"AltWithEmptyIsOptional", [](B b) { return b.Alt({b.Empty(), b.Call(0)}); }, "r0?"},
        {"AltMergesEncoded",
         [](B b) {
           return b.Alt(
               {b.Encode(Spelling::kUtf8, b.Text("ab")), b.Encode(Spelling::kUtf8, b.Text("cd"))});
         },
         "utf8<{\"ab\", \"cd\"}>"},
        {"AltKeepsSpellingsApart",
         [](B b) {
           return b.Alt({b.Encode(Spelling::kUtf8, b.Text("ab")),
                         b.Encode(Spelling::kJsonString, b.Text("cd"))});
         },
         "(utf8<\"ab\"> | json<\"cd\">)"},
        {"TextSetWithEmpty", [](B b) { return b.TextSet({"", "ab", "cd"}); }, "{\"ab\", \"cd\"}?"},
        {"TextSetOfOne", [](B b) { return b.TextSet({"ab", "ab"}); }, "\"ab\""},
        {"TextSetOfNone", [](B b) { return b.TextSet({}); }, "nothing"},
        {"RepeatZero", [](B b) { return b.Repeat(b.Call(0), 0, 0); }, "empty"},
        {"RepeatOne", [](B b) { return b.Repeat(b.Call(0), 1, 1); }, "r0"},
        {"RepeatReversed", [](B b) { return b.Repeat(b.Call(0), 3, 2); }, "nothing"},
        {"RepeatNothing", [](B b) { return b.Repeat(b.Nothing(), 0, 5); }, "empty"},
        {"RepeatNothingAtLeastOnce", [](B b) { return b.Repeat(b.Nothing(), 1, 5); }, "nothing"},
        {"RepeatEmpty", [](B b) { return b.Repeat(b.Empty(), 2, 5); }, "empty"},
        {"RepeatBounded", [](B b) { return b.Repeat(b.Call(0), 2, 5); }, "r0{2,5}"},
        {"RepeatFromTwo", [](B b) { return b.Repeat(b.Call(0), 2, kUnbounded); }, "r0{2,}"},
        {"RepeatOfOptional", [](B b) { return b.Repeat(b.Optional(b.Call(0)), 3, 5); }, "r0{0,5}"},
        {"RepeatOfStar", [](B b) { return b.Repeat(b.Repeat(b.Call(0), 0, kUnbounded), 2, 3); },
         "r0*"},
        {"RepeatOfExactStays", [](B b) { return b.Repeat(b.Repeat(b.Call(0), 2, 2), 0, 3); },
         "r0{2}{0,3}"},
        {"RepeatOfRange", [](B b) { return b.Repeat(b.Repeat(b.Call(0), 2, 3), 1, 10); },
         "r0{2,30}"},
        {"RepeatOfRangeOrNone", [](B b) { return b.Repeat(b.Repeat(b.Call(0), 2, 3), 0, 5); },
         "r0{2,15}?"},
        {"RepeatOfRangeWithGapsStays",
         [](B b) { return b.Repeat(b.Repeat(b.Call(0), 3, 4), 1, 5); }, "r0{3,4}{1,5}"},
        {"RepeatOfRangeWithoutEnd",
         [](B b) { return b.Repeat(b.Repeat(b.Call(0), 1000, kUnbounded), 2, 5); }, "r0{2000,}"},
        {"RepeatOfLargeCounts", [](B b) { return b.Repeat(b.Repeat(b.Call(0), 1, 1000), 1, 1000); },
         "r0{1,1000000}"},
        {"ConcatAddsCounts",
         [](B b) {
           const NodeId some = b.Repeat(b.AnyByteOf("ab"), 0, kUnbounded);
           return b.Concat({some, b.AnyByteOf("ab"), b.Repeat(b.AnyByteOf("ab"), 2, 3)});
         },
         "b[a-b]{3,}"},
        {"ConcatCountsCalls", [](B b) { return b.Concat({b.Call(0), b.Call(0)}); }, "r0{2}"},
        {"ConcatLeavesSetsAlone",
         [](B b) { return b.Concat({b.AnyByteOf("ab"), b.AnyByteOf("ab")}); }, "(b[a-b] b[a-b])"},
        {"AltUnitesCounts",
         [](B b) {
           return b.Alt({b.Repeat(b.Call(0), 3, 5), b.Call(0), b.Repeat(b.Call(0), 2, 2)});
         },
         "r0{1,5}"},
        {"AltKeepsGaps",
         [](B b) { return b.Alt({b.Repeat(b.Call(0), 4, 5), b.Repeat(b.Call(0), 1, 2)}); },
         "(r0{4,5} | r0{1,2})"},
        {"AltWithEmptyCountsFromZero",
         [](B b) { return b.Alt({b.Repeat(b.Call(0), 1, 5), b.Empty()}); }, "r0{0,5}"},
        {"AltOfOptionals",
         [](B b) { return b.Alt({b.Optional(b.Bytes("ab")), b.Optional(b.Call(0))}); },
         "(b\"ab\" | r0)?"},
        {"AndIntersectsChars",
         [](B b) {
           return b.And({b.Chars(CharSet({{'a', 'm'}})), b.Chars(CharSet({{'k', 'z'}}))});
         },
         "[k-m]"},
        {"AndOfDisjointChars",
         [](B b) {
           return b.And(
               {b.Text("ab"), b.Chars(CharSet({{'a', 'b'}})), b.Chars(CharSet({{'x', 'z'}}))});
         },
         "nothing"},
        {"AndDropsEverything",
         [](B b) { return b.And({b.Text("ab"), b.Repeat(b.AnyChar(), 0, kUnbounded)}); }, "\"ab\""},
        {"NotNot", [](B b) { return b.Not(b.Not(b.Text("ab"))); }, "\"ab\""},
        {"NotNothing", [](B b) { return b.Not(b.Nothing()); },
         "[\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}]*"},
        {"NotEverything", [](B b) { return b.Not(b.Repeat(b.AnyChar(), 0, kUnbounded)); },
         "nothing"},
        {"ObjectWithoutOthers",
         [](B b) {
           return b.Object({{{"a", b.Bytes("1"), true}, {"b", b.Nothing(), false}},
                            {{b.AnyChar(), b.Nothing()}, {b.Nothing(), b.Bytes("1")}},
                            b.Empty(),
                            false});
         },
         "object{\"a\"!: b\"1\", \"b\": nothing, space empty}"},
        {"ObjectWithConditions",
         [](B b) {
           const NodeId either = b.AnyByteOf("12");
           return b.Object({{{"a", either, true, {{b.Bytes("1"), {0}}, {b.Bytes("2"), {}}}}},
                            {{b.AnyChar(), either, {1, 2}}},
                            b.Empty(),
                            true,
                            {{{1}}, {{}, {0, 2}}},
                            1,
                            3});
         },
         "object_any_order{\"a\"!: b[1-2] ~ b\"1\" +0 ~ b\"2\", "
         "other [\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}]: b[1-2] +1+2, 1, never if 0 and 2, "
         "at least 1, at most 3, space empty}"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(IrBuilderTest, EqualNodesHaveEqualIds) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  EXPECT_EQ(b.Alt({b.Call(rule), b.Bytes("xy")}), b.Alt({b.Bytes("xy"), b.Call(rule)}));
  EXPECT_EQ(b.Concat({b.Bytes("x"), b.Bytes("y")}), b.Bytes("xy"));
  EXPECT_NE(b.Bytes("xy"), b.Text("xy"));
  const ObjectSpec spec{
      {{"a", b.Bytes("1"), true}}, {{b.AnyChar(), b.Bytes("2")}}, b.Empty(), false};
  EXPECT_EQ(b.Object(spec), b.Object(spec));
}

TEST(IrBuilderTest, ChildrenComeBeforeParents) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Concat({b.Bytes("["), b.Repeat(b.Call(rule), 0, 3), b.Bytes("]")}));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  ASSERT_TRUE(ir.ok());
  for (NodeId node = 0; node < ir->nodes.size(); ++node)
    for (std::uint32_t i = 0; i < ir->nodes[node].child_count; ++i)
      EXPECT_LT(ir->children[ir->nodes[node].first_child + i], node);
}

TEST(IrBuilderTest, UndefinedRuleIsNamed) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("value", "3:1");
  const absl::Status status = std::move(b).Build(rule).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), "3:1");
  EXPECT_THAT(std::string(status.message()), HasSubstr("value is not defined"));
}

TEST(IrBuilderTest, NodeLimitIsNamed) {
  Limits limits;
  limits.ir_nodes = 10;
  IrBuilder b(limits);
  const RuleId rule = b.DeclareRule("r", "");
  NodeId body = b.Bytes("a");
  for (int i = 0; i < 10; ++i) body = b.Repeat(b.Concat({body, b.Call(rule)}), 0, 2 + i);
  b.DefineRule(rule, body);
  const absl::Status status = std::move(b).Build(rule).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("limit ir_nodes is 10"));
}

TEST(IrBuilderTest, ProductOfCountsIsLimited) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Repeat(b.Repeat(b.Bytes("a"), 0, 1U << 20), 0, 1U << 20));
  const absl::Status status = std::move(b).Build(rule).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("repeat_count is 4294967294"));
}

TEST(IrBuilderTest, LongLiteralIsLinear) {
  IrBuilder b{Limits()};
  std::vector<NodeId> parts;
  for (int i = 0; i < 200'000; ++i) parts.push_back(b.Bytes(i % 2 == 0 ? "," : "12345678"));
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Concat(parts));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  ASSERT_TRUE(ir.ok());
  EXPECT_EQ(ir->byte_strings.back().size(), 900'000u);
  EXPECT_EQ(ir->byte_strings.size(), 3u);
}

TEST(IrBuilderTest, BytesMayBeAViewOfWhatItHas) {
  IrBuilder b{Limits()};
  std::string text(100, 'a');
  text += "bc";
  NodeId node = b.Bytes(text);
  for (std::size_t at = 1; at < text.size(); ++at) {
    const absl::string_view view = BytesOf(b.ir(), b.node(node));
    node = b.Bytes(view.substr(1));
    EXPECT_EQ(BytesOf(b.ir(), b.node(node)), text.substr(at));
    EXPECT_EQ(node, b.Bytes(text.substr(at)));
  }
}

TEST(IrBuilderTest, AlternativesAreThoseOfAChoiceOrTheNodeItself) {
  IrBuilder b{Limits()};
  const NodeId ab = b.Bytes("ab");
  const NodeId call = b.Call(b.DeclareRule("r", ""));
  const auto alternatives = [&](NodeId node) {
    std::vector<NodeId> all;
    b.ForEachAlternative(node, [&](NodeId one) { all.push_back(one); });
    return all;
  };
  const NodeId choice = b.Alt({ab, call});
  const NodeId often = b.Repeat(choice, 0, 3);
  EXPECT_THAT(alternatives(choice), UnorderedElementsAre(ab, call));
  EXPECT_THAT(alternatives(b.Optional(choice)), UnorderedElementsAre(ab, call));
  EXPECT_THAT(alternatives(b.Optional(ab)), UnorderedElementsAre(ab));
  EXPECT_THAT(alternatives(ab), UnorderedElementsAre(ab));
  EXPECT_THAT(alternatives(often), UnorderedElementsAre(often));
}

TEST(IrPrinterTest, SharedNodesArePrintedOnce) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  NodeId node = b.Concat({b.Bytes("x"), b.Call(rule)});
  for (int i = 0; i < 64; ++i) node = b.Concat({node, b.Repeat(node, 2, 2), b.Bytes("y")});
  b.DefineRule(rule, node);
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  ASSERT_TRUE(ir.ok());
  EXPECT_LT(PrintIr(*ir).size(), 40'000u);
}

}  // namespace
}  // namespace maskd
