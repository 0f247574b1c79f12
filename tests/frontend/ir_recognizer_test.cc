// The recogniser by hand-made grammars: it has to be right before it is an oracle.
#include "tests/frontend/ir_recognizer.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

struct Case {
  const char* name;
  std::function<NodeId(IrBuilder&, RuleId)> body;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class IrRecognizerTest : public testing::TestWithParam<Case> {};

TEST_P(IrRecognizerTest, AcceptsExactlyThese) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, GetParam().body(b, start));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(start);
  ASSERT_TRUE(ir.ok());
  IrRecognizer recognizer(*ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

using B = IrBuilder&;

NodeId InQuotes(B b, NodeId characters) {
  return b.Concat({b.Bytes("\""), b.Encode(Spelling::kJsonString, characters), b.Bytes("\"")});
}

NodeId AnyText(B b) { return b.Repeat(b.AnyChar(), 0, kUnbounded); }

NodeId ObjectOf(B b, bool any_order, bool others) {
  ObjectSpec spec;
  spec.members = {{"a", b.Bytes("1"), true}, {"b", b.Bytes("2"), false}, {"c", b.Nothing(), false}};
  if (others) spec.others.push_back({AnyText(b), b.Bytes("3")});
  spec.space = b.Repeat(b.Bytes(" "), 0, 1);
  spec.any_order = any_order;
  return b.Object(std::move(spec));
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, IrRecognizerTest,
    testing::ValuesIn(std::vector<Case>{
        {"Nothing", [](B b, RuleId) { return b.Nothing(); }, {}, {"", "a"}},
        {"Repeat",
         [](B b, RuleId) { return b.Repeat(b.Bytes("ab"), 2, 3); },
         {"abab", "ababab"},
         {"", "ab", "ababa", "abababab"}},
        {"RepeatOfNullable",
         [](B b, RuleId) {
           return b.Repeat(b.Repeat(b.Alt({b.Bytes("a"), b.Empty()}), 2, 2), 3, 5);
         },
         {"", "a", "aaaaaaaaaa"},
         {"aaaaaaaaaaa", "b"}},
        {"Balanced",
         [](B b, RuleId r) {
           return b.Repeat(b.Concat({b.Bytes("("), b.Call(r), b.Bytes(")")}), 0, kUnbounded);
         },
         {"", "()", "(()())()"},
         {"(", "())", ")("}},
        {"EvenPalindrome",
         [](B b, RuleId r) {
           return b.Optional(b.Alt({b.Concat({b.Bytes("a"), b.Call(r), b.Bytes("a")}),
                                    b.Concat({b.Bytes("b"), b.Call(r), b.Bytes("b")})}));
         },
         {"", "aa", "abba", "baab"},
         {"a", "ab", "aba", "abab"}},
        {"Utf8CharactersAreCounted",
         [](B b, RuleId) { return b.Encode(Spelling::kUtf8, b.Repeat(b.AnyChar(), 2, 2)); },
         {"ab", "é😀", "\"\\"},
         {"a", "abc", "é", "\xC3\xA9\xC3"}},
        {"JsonEscapesAreOneCharacter",
         [](B b, RuleId) { return InQuotes(b, b.Repeat(b.AnyChar(), 2, 2)); },
         {R"("ab")", R"("\n\"")", R"("\u0041b")", R"("\ud83d\uDE00x")", "\"é😀\"", R"("\/\\")"},
         {R"("a")", R"("\ud83d\ude00")", R"("\ud83dx")", R"("\ude00x")", "\"a\n\"", R"("\xa")",
          R"("abc")", R"("\u004")"}},
        {"TextInJson",
         [](B b, RuleId) { return InQuotes(b, b.TextSet({"a\"b", "é", "x"})); },
         {R"("a\"b")", R"("\u0061\u0022b")", "\"é\"", R"("\u00E9")", "\"x\""},
         {R"("a")", R"("a"b")", R"("é\")"}},
        {"And",
         [](B b, RuleId) {
           return InQuotes(b,
                           b.And({b.Repeat(b.AnyChar(), 2, 3), b.Concat({b.Text("a"), AnyText(b)}),
                                  b.Concat({AnyText(b), b.Text("z")})}));
         },
         {"\"az\"", "\"abz\"", R"("\u0061\u007a")"},
         {"\"a\"", "\"abbz\"", "\"za\""}},
        {"Not",
         [](B b, RuleId) { return InQuotes(b, b.Not(b.TextSet({"id", "name"}))); },
         {"\"i\"", "\"\"", "\"ids\"", "\"NAME\""},
         {"\"id\"", R"("\u0069d")", "\"name\"", "id"}},
        {"ObjectInOrder",
         [](B b, RuleId) { return ObjectOf(b, false, true); },
         {R"({"a":1})", R"({ "a" : 1 , "b" : 2 , "x" : 3 , "x" : 3 })", R"({"\u0061":1})"},
         {R"({})", R"({"b":2,"a":1})", R"({"a":1,"x":3,"b":2})", R"({"x":3,"a":1})",
          R"({"a":1,"a":1})", R"({"a":1,"c":3})", R"({"a":2})", R"({"a":1,})", R"({  "a":1})"}},
        {"ObjectInAnyOrder",
         [](B b, RuleId) { return ObjectOf(b, true, true); },
         {R"({"a":1})", R"({"b":2,"a":1})", R"({"x":3,"a":1,"y":3,"b":2})"},
         {R"({"b":2})", R"({"a":1,"b":2,"a":1})", R"({"a":1,"\u0061":1})", R"({"c":3,"a":1})"}},
        {"ClosedObject",
         [](B b, RuleId) { return ObjectOf(b, true, false); },
         {R"({"b":2,"a":1})"},
         {R"({"a":1,"x":3})"}},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
