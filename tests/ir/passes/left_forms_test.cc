// Forms against the texts of the node that they were made of: a form, put together again, has all
// of them but the empty one.
#include "grammar_core/ir/passes/left_forms.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/passes/nullable.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

using B = IrBuilder&;

constexpr RuleId kStart = 0;  // its body is taken apart
constexpr RuleId kVariable = 1;
constexpr RuleId kVariable2 = 2;
constexpr RuleId kOther = 3;  // no variable

// What the start is made of: calls of the other rules. "v" or "vw" or nothing, "w", "o" or nothing.
struct Calls {
  NodeId v;
  NodeId w;
  NodeId o;
};

// The grammar whose start is `make`.
GrammarIr Grammar(const std::function<NodeId(B, const Calls&)>& make) {
  IrBuilder b{Limits()};
  for (const char* name : {"start", "v", "w", "o"}) b.DeclareRule(name, "3:4");
  b.DefineRule(kVariable, b.Optional(b.Alt({b.Bytes("v"), b.Bytes("vw")})));
  b.DefineRule(kVariable2, b.Bytes("w"));
  b.DefineRule(kOther, b.Optional(b.Bytes("o")));
  b.DefineRule(kStart, make(b, {b.Call(kVariable), b.Call(kVariable2), b.Call(kOther)}));
  return *std::move(b).Build(kStart);
}

std::vector<std::string> AllTexts() {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < 5; ++i)
    for (const char letter : {'a', 'o', 'v', 'w'}) texts.push_back(texts[i] + letter);
  return texts;
}

// The form of the start, made in `b`, where each rule is the texts of the old one that are not
// empty.
absl::StatusOr<LeftForm> FormOf(const GrammarIr& ir, IrBuilder* b, std::vector<RuleId>* non_empty) {
  Budget budget = Budget::Unlimited();
  const std::vector<bool> nullable = *NullableNodes(ir, budget);
  IrCopier copier(ir, b);
  for (RuleId rule = 0; rule < ir.rules.size(); ++rule) copier.DeclareRule(rule);
  for (NodeId node = 0; node < ir.nodes.size(); ++node) EXPECT_TRUE(copier.Copy(node, budget).ok());
  for (RuleId rule = 1; rule < ir.rules.size(); ++rule)
    b->DefineRule(copier.RuleOf(rule), copier.CopyOf(ir.rules[rule].body));
  non_empty->push_back(copier.RuleOf(kStart));
  for (const char* name : {"v not empty", "w not empty", "o not empty"})
    non_empty->push_back(b->DeclareRule(name, ""));
  b->DefineRule((*non_empty)[kVariable], b->Alt({b->Bytes("v"), b->Bytes("vw")}));
  b->DefineRule((*non_empty)[kVariable2], b->Bytes("w"));
  b->DefineRule((*non_empty)[kOther], b->Bytes("o"));
  LeftForms forms(
      ir, nullable, copier, b,
      [](RuleId rule) {
        return rule == kVariable || rule == kVariable2 ? rule - kVariable : LeftForms::kNoVariable;
      },
      [&](RuleId rule) { return (*non_empty)[rule]; });
  return forms.Of(ir.rules[kStart], budget);
}

struct Case {
  const char* name;
  std::function<NodeId(B, const Calls&)> make;
  // The variables that a text may begin with.
  std::vector<std::uint32_t> variables;
};

class LeftFormsTest : public testing::TestWithParam<Case> {};

TEST_P(LeftFormsTest, HasAllTextsButTheEmptyOne) {
  const GrammarIr ir = Grammar(GetParam().make);
  IrBuilder b{Limits()};
  std::vector<RuleId> rules;
  const LeftForm form = *FormOf(ir, &b, &rules);
  std::vector<NodeId> ways = {form.plain};
  std::vector<std::uint32_t> variables;
  for (const LeftForm::Call& call : form.calls) {
    variables.push_back(call.variable);
    ways.push_back(b.Concat({b.Call(rules[kVariable + call.variable]), call.rest.node}));
  }
  EXPECT_EQ(variables, GetParam().variables);
  b.DefineRule(rules[kStart], b.Alt(ways));
  const GrammarIr made = *std::move(b).Build(rules[kStart]);
  IrRecognizer before(ir);
  IrRecognizer after(made);
  for (const std::string& text : AllTexts())
    EXPECT_EQ(after.Accepts(text), !text.empty() && before.Accepts(text))
        << text << "\n"
        << PrintIr(ir) << PrintIr(made);
  Budget budget = Budget::Unlimited();
  const std::vector<bool> nullable = *NullableNodes(made, budget);
  for (const LeftForm::Call& call : form.calls)
    EXPECT_EQ(call.rest.nullable, nullable[call.rest.node]) << call.variable;
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, LeftFormsTest,
    testing::ValuesIn(std::vector<Case>{
        {"Nothing", [](B b, const Calls&) { return b.Nothing(); }, {}},
        {"Empty", [](B b, const Calls&) { return b.Empty(); }, {}},
        {"Bytes", [](B b, const Calls&) { return b.Bytes("a"); }, {}},
        {"Variable", [](B, const Calls& c) { return c.v; }, {0}},
        {"OtherRule", [](B, const Calls& c) { return c.o; }, {}},
        {"BehindAByte", [](B b, const Calls& c) { return b.Concat({b.Bytes("a"), c.v}); }, {}},
        {"WithATail", [](B b, const Calls& c) { return b.Concat({c.w, b.Bytes("a")}); }, {1}},
        {"BehindWhatMayBeEmpty",
         [](B b, const Calls& c) { return b.Concat({b.Optional(b.Bytes("a")), c.o, c.v, c.w}); },
         {0, 1}},
        {"AllMayBeEmpty", [](B b, const Calls& c) { return b.Concat({c.v, c.o, c.v}); }, {0}},
        {"Choice",
         [](B b, const Calls& c) { return b.Alt({b.Concat({c.w, c.w}), c.v, b.Bytes("a"), c.w}); },
         {0, 1}},
        {"Optional", [](B b, const Calls& c) { return b.Optional(c.w); }, {1}},
        {"Repeat", [](B b, const Calls& c) { return b.Repeat(c.w, 2, 3); }, {1}},
        {"EndlessRepeat", [](B b, const Calls& c) { return b.Repeat(c.w, 1, kUnbounded); }, {1}},
        {"RepeatOfWhatMayBeEmpty", [](B b, const Calls& c) { return b.Repeat(c.v, 2, 3); }, {0}},
        {"RepeatOfASequence",
         [](B b, const Calls& c) { return b.Repeat(b.Concat({c.o, c.w}), 2, 2); },
         {1}},
        {"CharactersThatMayBeEmpty",
         [](B b, const Calls& c) {
           const NodeId some = b.Repeat(b.AnyChar(), 0, 2);
           return b.Concat({b.Encode(Spelling::kUtf8, b.And({some, b.Not(b.Text("a"))})), c.w});
         },
         {1}},
        {"LimitedWithoutVariables",
         [](B b, const Calls&) { return b.Limited(b.Bytes("ao"), 3); },
         {}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LeftForms, TokensAreNotCountedAtABeginning) {
  for (const bool itself : {false, true}) {
    const GrammarIr ir = Grammar([&](B b, const Calls& c) {
      return b.Concat({b.Limited(itself ? c.w : b.Optional(b.Bytes("a")), 3), b.Bytes("a")});
    });
    IrBuilder b{Limits()};
    std::vector<RuleId> rules;
    const absl::Status status = FormOf(ir, &b, &rules).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_NE(status.message().find("3:4"), std::string::npos) << status;
  }
}

TEST(LeftForms, BeginsUpToWhatIsNotEmpty) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  const NodeId maybe = b.Optional(b.Bytes("a"));
  const NodeId self = b.Call(start);
  const NodeId set = b.AnyByteOf("xy");
  const NodeId body = b.Concat({maybe, set, self});
  const NodeId nullable_body = b.Concat({maybe, b.Optional(self)});
  const NodeId choice = b.Alt({self, b.Break(1)});
  const NodeId block = b.Block('[', self, 2);
  b.DefineRule(start, body);
  b.DefineRule(b.DeclareRule("others", ""), b.Concat({nullable_body, choice, block}));
  const GrammarIr ir = *std::move(b).Build(start);
  Budget budget = Budget::Unlimited();
  const std::vector<bool> nullable = *NullableNodes(ir, budget);
  EXPECT_EQ(Begins(ir, nullable, body), (std::vector<NodeId>{maybe, set}));
  EXPECT_EQ(Begins(ir, nullable, choice).size(), 2);
  EXPECT_EQ(Begins(ir, nullable, self), std::vector<NodeId>{body});
  EXPECT_EQ(Begins(ir, nullable, block), std::vector<NodeId>());
}

}  // namespace
}  // namespace maskd
