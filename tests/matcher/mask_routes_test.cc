// Which route makes the mask of which state: at least three named states each. A route that stops
// firing changes no mask, so no other test would see it.
#include "grammar_core/mask_routes/mask_routes.h"

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/terms/term_printer.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// The state behind `text` of a grammar.
struct Row {
  std::string name;
  std::string kind;
  std::string grammar;
  std::string text;
  MaskRoute route;
  WhiteSpace white_space = WhiteSpace::kFlexible;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

using R = MaskRoute;
constexpr WhiteSpace kCompact = WhiteSpace::kCompact;

constexpr char kTwoMembers[] =
    R"({"type":"object","properties":{"alpha":{"type":"integer"},"beta":{"type":"boolean"}},)"
    R"("additionalProperties":false})";
constexpr char kLimited[] = "start: \"a\" body \"!\"\nbody[max_tokens=3]: /[a-z ]*/\n";
constexpr char kShapes[] =
    R"({"type":"object","properties":{"a":{"type":["array","string"]},"b":{"type":["null","boolean"]},)"
    R"("c":{"anyOf":[{"const":true},{"type":"number"}]}}})";
constexpr char kOpen[] =
    R"({"type":"object","properties":{"alpha":{"type":"integer"}},"required":["alpha"],)"
    R"("additionalProperties":{"type":"integer"}})";
constexpr char kLong[] = R"({"type":"string","pattern":"^[a-z]+(-[a-z]+)*$","maxLength":200})";
constexpr char kCounts[] = R"({"type":"string","pattern":"^[a-z]{1,63}(\\.[a-z]{1,63}){1,127}$"})";
constexpr char kNulls[] = R"({"type":"array","items":{"type":["null","boolean"]}})";
constexpr char kStrings[] = R"({"type":"array","items":{"type":"string"}})";
constexpr char kNumbers[] = R"({"type":"array","items":{"type":"number","minimum":1}})";

constexpr char kTriggered[] =
    R"({"type":"structural_tag","format":{"type":"triggered_tags","triggers":["<call>"],"tags":[)"
    R"({"type":"tag","begin":"<call>","content":{"type":"const_string","value":"x"},"end":""}]}})";
constexpr char kTextWithout[] =
    R"({"type":"structural_tag","format":{"type":"any_text","excludes":["<call>"]}})";

// Tokens 65 and 66 are taken by their names.
constexpr char kMarkedText[] = "start: (text <[65]> /[0-9]+/)* text\ntext: /[a-z ]*/\n";
constexpr char kMarkOrText[] = "start: <[65]> \"x\" | <[66]> | /[a-z]+/\n";
constexpr char kMarks[] = "start: (<[65]> \"x\")* <[66]>\n";

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      {"TextBeforeAToken", "lark", kMarkedText, "", R::kMarked},
      {"ATokenOrText", "lark", kMarkOrText, "", R::kMarked},
      {"TokensAlone", "lark", kMarks, "", R::kMarked},
      {"SecondNullOrBoolean", "json_schema", kShapes, "{\"a\":\"x\",\"b\":", R::kChoice, kCompact},
      {"NullOrBoolean", "json_schema", kShapes, "{\"b\":", R::kChoice, kCompact},
      {"NullOrBooleanOfAnArray", "json_schema", kNulls, "[null,", R::kChoice, kCompact},
      {"FirstName", "json_schema", kTwoMembers, "{\"", R::kNames},
      {"WithinAName", "json_schema", kTwoMembers, "{\"al", R::kNames},
      {"SecondName", "json_schema", kTwoMembers, "{\"alpha\":1,\"", R::kNames},
      {"UndeclaredName", "json_schema", kOpen, "{\"alpha\":1,\"", R::kOthers},
      {"NameThatBeginsAsADeclaredOne", "json_schema", kOpen, "{\"alpha\":1,\"a", R::kOthers},
      {"NameOneLetterShort", "json_schema", kOpen, "{\"alpha\":1,\"alph", R::kOthers},
      {"PatternAndLength", "json_schema", kLong, "\"", R::kLength},
      {"PatternAndLengthWithin", "json_schema", kLong, "\"ab", R::kLength},
      {"PatternAndLengthBehindADash", "json_schema", kLong, "\"ab-", R::kLength},
      {"Hostname", "json_schema", kCounts, "\"", R::kCounts},
      {"HostnameWithin", "json_schema", kCounts, "\"ab", R::kCounts},
      {"HostnameBehindADot", "json_schema", kCounts, "\"ab.", R::kCounts},
      {"String", "json_schema", kStrings, "[\"", R::kExits},
      {"StringWithin", "json_schema", kStrings, "[\"ab", R::kExits},
      {"SecondString", "json_schema", kStrings, "[\"a\",\"", R::kExits, kCompact},
      {"StringBeforeItsQuote", "json_schema", kStrings, "[\"a\",", R::kWalk, kCompact},
      {"TextBeforeATrigger", "structural_tag", kTriggered, "", R::kFreeText},
      {"TextBehindIt", "structural_tag", kTriggered, "<call>x", R::kFreeText},
      {"TextWithout", "structural_tag", kTextWithout, "a", R::kFreeText},
      {"TextWithoutWhereOneBegins", "structural_tag", kTextWithout, "a<ca", R::kFreeText},
      {"NumberWithin", "json_schema", kNumbers, "[1", R::kEnds},
      {"NumberBehindItsPoint", "json_schema", kNumbers, "[1.", R::kEnds},
      {"NumberBehindAComma", "json_schema", kNumbers, "[1,", R::kEnds, kCompact},
      {"SpaceBehindABrace", "json_schema", kTwoMembers, "{", R::kRuns},
      {"SpaceBehindABracket", "json_schema", kStrings, "[", R::kRuns},
      {"SpaceBehindAComma", "json_schema", kNumbers, "[1,", R::kRuns},
      {"Literal", "regex", "hello", "h", R::kWalk},
      {"LiteralWithin", "regex", "hello", "hell", R::kWalk},
      {"FirstMember", "json_schema", kTwoMembers, "{", R::kWalk, kCompact},
      {"FurtherMember", "json_schema", kOpen, "{\"alpha\":1,", R::kWalk, kCompact},
      {"LimitedText", "lark", kLimited, "ab", R::kWalk},
      {"LimitedTextAtItsLast", "lark", kLimited, "abc", R::kWalk},
      {"Const", "json_schema", R"({"const":true})", "t", R::kWalk},
      {"AnyText", "regex", "(?s:.*)", "a", R::kClosure},
      {"AnyLine", "regex", "[^\\n]*\\n", "a", R::kClosure},
      {"Letters", "regex", "[a-z]{1,200}", "ab", R::kClosure},
  };
  return *rows;
}

class MaskRoutesTest : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    Budget budget = Budget::Unlimited();
    space_ = TokenizerSpace::Create(TestVocabulary());
    GrammarSource source = {GetParam().kind, GetParam().grammar, {}};
    source.options.white_space = GetParam().white_space;
    auto grammar = CompileGrammar(source, space_, Limits(), budget);
    ASSERT_TRUE(grammar.ok()) << grammar.status();
    grammar_ = *grammar;
    automaton_ = grammar_->automaton();
  }

  std::shared_ptr<TokenizerSpace> space_;
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::shared_ptr<MaskedAutomaton> automaton_;
};

TEST_P(MaskRoutesTest, Is) {
  Budget budget = Budget::Unlimited();
  Work work(budget);
  std::size_t taken = 0;
  const TermId state = automaton_->StepText(automaton_->start(), GetParam().text, &taken, work);
  ASSERT_EQ(taken, GetParam().text.size());
  MaskMaker maker(automaton_.get(), automaton_.get(), &space_->masks(), &work);
  const MaskRef mask = maker.Make(state);
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(std::string(NameOf(maker.route())), std::string(NameOf(GetParam().route)))
      << PrintTerm(automaton_->store(), state);
}

INSTANTIATE_TEST_SUITE_P(States, MaskRoutesTest, testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.name; });

// As maskbench --without_routes and --mask_route do for a whole process.
class MaskRouteSwitchTest : public MaskRoutesTest {
 protected:
  MaskRef Make(MaskRoute* route) {
    Budget budget = Budget::Unlimited();
    Work work(budget);
    std::size_t taken = 0;
    const TermId state = automaton_->StepText(automaton_->start(), GetParam().text, &taken, work);
    // Masks that this one is made of come from stores of its own, so the switch has effect on them.
    space_->masks().Clear();
    MaskMaker maker(automaton_.get(), automaton_.get(), &space_->masks(), &work);
    MaskRef mask = maker.Make(state);
    *route = maker.route();
    return mask;
  }
  ~MaskRouteSwitchTest() override { MaskRouteSwitch::AllOn(); }
};

TEST_P(MaskRouteSwitchTest, MasksAreTheSameByAnother) {
  MaskRoute with = R::kWalk, without = R::kWalk, alone = R::kWalk;
  const MaskRef mask = Make(&with);
  ASSERT_EQ(with, GetParam().route);
  MaskRouteSwitch::Off(with);
  EXPECT_FALSE(MaskRouteSwitch::IsOn(with));
  const MaskRef other = Make(&without);
  EXPECT_NE(NameOf(without), NameOf(with));
  EXPECT_TRUE(*other == *mask);
  MaskRouteSwitch::Only(with);
  const MaskRef only = Make(&alone);
  EXPECT_EQ(NameOf(alone), NameOf(with));
  EXPECT_TRUE(*only == *mask);
}

INSTANTIATE_TEST_SUITE_P(States, MaskRouteSwitchTest, testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.name; });

TEST(MaskRoutes, EachHasThreeNamedStates) {
  std::map<MaskRoute, int> states;
  for (const Row& row : Rows()) ++states[row.route];
  for (const MaskRouteInfo& info : MaskRouteTable()) EXPECT_GE(states[info.route], 3) << info.name;
}

TEST(MaskRoutes, HaveNamesOfTheirOwn) {
  for (const MaskRouteInfo& info : MaskRouteTable()) {
    EXPECT_EQ(NameOf(info.route), info.name);
    EXPECT_EQ(MaskRouteNamed(info.name), info.route);
  }
  EXPECT_EQ(MaskRouteNamed("tunnel"), std::nullopt);
}

// Masks within masks are counted apart, and none twice.
TEST(MaskRoutes, AreCountedOnceAsked) {
  MaskRouteTally::Enable();
  const auto before = MaskRouteTally::Read();
  {
    MaskRouteTally::Scope outer;
    {
      MaskRouteTally::Scope inner;
      inner.Made(R::kWalk);
    }
    outer.Made(R::kChoice);
    MaskRouteTally::Scope given_up;
  }
  const auto after = MaskRouteTally::Read();
  std::int64_t made = 0;
  for (std::size_t i = 0; i < kMaskRoutes; ++i) {
    made += after[i].masks - before[i].masks;
    EXPECT_GE(after[i].time.count(), before[i].time.count());
  }
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace maskd
