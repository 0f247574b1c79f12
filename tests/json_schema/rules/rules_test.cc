// One rule a type, each on its own: the values within are known ones (rule_parts.h).
#include "grammar_core/frontend/json_schema/rules/rules.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

using MakeRule = absl::StatusOr<NodeId> (*)(const MergedSchema& schema, RuleContext& context);

absl::StatusOr<NodeId> ObjectsRule(const MergedSchema& schema, RuleContext& context) {
  return ObjectRule(schema, {}, context);
}

struct RuleCase {
  const char* name;
  MakeRule make;
  const char* schema;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
  GrammarOptions options = CompactOptions();
};

void PrintTo(const RuleCase& c, std::ostream* out) { *out << c.name; }

class RuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, HasTheValuesOfItsType) {
  RuleParts parts(GetParam().schema, GetParam().options);
  const NodeId node = *GetParam().make(parts.MergedRoot(), parts.context);
  const GrammarIr ir = parts.GrammarOf(node);
  IrRecognizer recognizer(ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
  EXPECT_TRUE(parts.refused.empty());
}

GrammarOptions InAnyOrder() {
  GrammarOptions options = CompactOptions();
  options.property_order = PropertyOrder::kAny;
  return options;
}

GrammarOptions ClosedByDefault() {
  GrammarOptions options = CompactOptions();
  options.additional_properties = false;
  return options;
}

GrammarOptions Canonical() {
  GrammarOptions options = CompactOptions();
  options.spelling = JsonSpelling::kCanonical;
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Objects, RuleTest,
    testing::ValuesIn(std::vector<RuleCase>{
        {"AnyObject", &ObjectsRule, "true", {"{}", R"({"x":1,"y":[1]})"}, {"[]", R"({"x":7})"}},
        {"InDeclaredOrder",
         &ObjectsRule,
         R"({"properties":{"b":{"type":"string"},"a":true}})",
         {R"({"b":"a","a":1})", R"({"a":1})", R"({"b":"a","x":1})"},
         {R"({"a":1,"b":"a"})", R"({"b":1})", R"({"x":1,"a":1})"}},
        {"InAnyOrder",
         &ObjectsRule,
         R"({"properties":{"b":{"type":"string"},"a":true}})",
         {R"({"a":1,"x":2,"b":"a"})"},
         {R"({"a":1,"a":1})", R"({"a":1,"b":1})"},
         InAnyOrder()},
        {"Required",
         &ObjectsRule,
         R"({"properties":{"a":true},"required":["a","c"]})",
         {R"({"a":1,"c":2})"},
         {R"({"a":1})", R"({"c":2})"}},
        {"Closed",
         &ObjectsRule,
         R"({"properties":{"a":true},"additionalProperties":false})",
         {"{}", R"({"a":1})"},
         {R"({"b":1})"}},
        {"ClosedByOption",
         &ObjectsRule,
         R"({"properties":{"a":true}})",
         {"{}", R"({"a":1})"},
         {R"({"b":1})"},
         ClosedByDefault()},
        {"Counted",
         &ObjectsRule,
         R"({"properties":{"a":true,"b":true,"c":true},
            "additionalProperties":false,"minProperties":2,"maxProperties":2})",
         {R"({"a":1,"c":1})"},
         {R"({"a":1})", R"({"a":1,"b":1,"c":1})"}},
        {"Patterns",
         &ObjectsRule,
         R"({"patternProperties":{"^n":{"type":"null"}}})",
         {R"({"n":null,"x":1})"},
         {R"({"n":1})"}},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Arrays, RuleTest,
    testing::ValuesIn(std::vector<RuleCase>{
        {"AnyArray", &ArrayRule, "true", {"[]", "[1]", R"([1,"a",[1]])"}, {"{}", "[7]"}},
        {"Prefix",
         &ArrayRule,
         R"({"prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"null"}})",
         {"[]", "[1]", R"([2,"a",null,null])"},
         {R"(["a"])", R"([1,"a",1])"}},
        {"Counts",
         &ArrayRule,
         R"({"minItems":2,"maxItems":3})",
         {"[1,1]", "[1,1,1]"},
         {"[1]", "[1,1,1,1]"}},
        {"NoItems", &ArrayRule, R"({"maxItems":0})", {"[]"}, {"[1]"}},
        {"ItemsFalse",
         &ArrayRule,
         R"({"prefixItems":[true],"items":false})",
         {"[]", "[1]"},
         {"[1,1]"}},
        {"Contains",
         &ArrayRule,
         R"({"contains":{"type":"string"}})",
         {R"([1,"a"])"},
         {"[]", "[1]"}},
        {"UniqueListed",
         &ArrayRule,
         R"({"uniqueItems":true,"items":{"enum":[1,2]}})",
         {"[]", "[2,1]"},
         {"[1,1]", "[1,2,1]"}},
        {"UniqueOthers",
         &ArrayRule,
         R"({"uniqueItems":true})",
         {R"([1,"a",[1]])"},
         {"[1,1.0]", "[[1],[1]]"}},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Scalars, RuleTest,
    testing::ValuesIn(std::vector<RuleCase>{
        {"AnyString", &StringRule, "true", {R"("")", R"("a\n\u00e9")"}, {"a", "1", "\"\n\""}},
        {"Facets",
         &StringRule,
         R"({"minLength":2,"maxLength":3,"pattern":"^a","not":{"const":"ab"}})",
         {R"("ax")", R"("\u0061x")"},
         {R"("ab")", R"("a")", R"("abcd")", R"("xa")"}},
        {"CanonicalString",
         &StringRule,
         R"({"const":"a\n"})",
         {R"("a\n")"},
         {R"("\u0061\n")"},
         Canonical()},
        {"AnyNumber",
         &NumberRule,
         R"({"type":"number"})",
         {"0", "-1.5e+10", "1E2"},
         {"01", "1.", "+1", "\"1\""}},
        {"SomeNumbers",
         &NumberRule,
         R"({"type":"integer","minimum":2})",
         {"2", "2.0", "1e2"},
         {"1", "2.5"}},
        {"CanonicalNumber",
         &NumberRule,
         R"({"type":"number"})",
         {"0", "1.5", "1.0"},
         {"1.50", "1e0"},
         Canonical()},
    }),
    [](const auto& test) { return test.param.name; });

struct NoValueCase {
  const char* name;
  MakeRule make;
  const char* schema;
  const char* place;
};

class RuleErrorTest : public testing::TestWithParam<NoValueCase> {};

TEST_P(RuleErrorTest, SaysWhyNoValueOfTheTypeFits) {
  RuleParts parts(GetParam().schema);
  const absl::Status status = GetParam().make(parts.MergedRoot(), parts.context).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, RuleErrorTest,
    testing::ValuesIn(std::vector<NoValueCase>{
        {"MemberCounts", &ObjectsRule, R"({"minProperties":2,"maxProperties":1})",
         "/maxProperties"},
        {"RequiredNotAllowed", &ObjectsRule, R"({"required":["b"],"additionalProperties":false})",
         "/required/0"},
        {"ItemCounts", &ArrayRule, R"({"minItems":2,"maxItems":1})", "/maxItems"},
        {"Lengths", &StringRule, R"({"minLength":2,"maxLength":1})", "/maxLength"},
        {"Numbers", &NumberRule, R"({"type":"integer","minimum":2,"maximum":1})", "/maximum"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(Rules, ClausesHoldBesideTheSchema) {
  RuleParts parts(R"({"properties":{"a":true,"b":true},"additionalProperties":false})");
  const Claim a = parts.logic.HasMember(parts.At("/properties/a"), false);
  const Claim b = parts.logic.HasMember(parts.At("/properties/b"), false);
  const NodeId node = *ObjectRule(parts.MergedRoot(), {{a.Negated(), b}}, parts.context);
  const absl::Status none =
      ObjectRule(parts.MergedRoot(), {{a}, {a.Negated()}}, parts.context).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  const GrammarIr ir = parts.GrammarOf(node);
  IrRecognizer recognizer(ir);
  for (const char* text : {"{}", R"({"b":1})", R"({"a":1,"b":1})"})
    EXPECT_TRUE(recognizer.Accepts(text)) << text;
  EXPECT_FALSE(recognizer.Accepts(R"({"a":1})"));
}

TEST(Rules, AKeywordThatIsNotSupportedIsRefused) {
  RuleParts pattern(R"({"pattern":"(a)\\1"})");
  EXPECT_TRUE(StringRule(pattern.MergedRoot(), pattern.context).ok());
  ASSERT_EQ(pattern.refused.size(), 1);
  EXPECT_EQ(pattern.refused[0].place, "/pattern");
  RuleParts repeated(R"({"not":{"uniqueItems":true}})");
  EXPECT_TRUE(ArrayRule(repeated.MergedRoot(), repeated.context).ok());
  ASSERT_EQ(repeated.refused.size(), 1);
  EXPECT_EQ(repeated.refused[0].place, "/not/uniqueItems");
}

TEST(Rules, DraftFourAndCanonicalIntegersAreWrittenPlain) {
  const auto spelling = [](const char* schema, const GrammarOptions& options) {
    RuleParts parts(schema, options);
    return SpellingOf(parts.MergedRoot(), options);
  };
  constexpr char kDraft4[] =
      R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"})";
  EXPECT_EQ(spelling(kDraft4, CompactOptions()), NumberSpelling::kPlain);
  EXPECT_EQ(spelling(R"({"type":"integer"})", CompactOptions()), NumberSpelling::kAny);
  EXPECT_EQ(spelling(R"({"type":"integer"})", Canonical()), NumberSpelling::kPlain);
  EXPECT_EQ(spelling(R"({"type":"number"})", Canonical()), NumberSpelling::kAny);
}

struct LiteralCase {
  const char* name;
  GrammarOptions options;
  NumberSpelling spelling;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

void PrintTo(const LiteralCase& c, std::ostream* out) { *out << c.name; }

class LiteralRuleTest : public testing::TestWithParam<LiteralCase> {};

TEST_P(LiteralRuleTest, HasExactlyTheseValues) {
  RuleParts parts(R"({"enum":["a",1,2.5,null,true,[1,"b"],{"y":1,"x":[]}]})", GetParam().options);
  const std::vector<JsonValue> values = parts.MergedRoot().ListedValues();
  const GrammarIr ir = parts.GrammarOf(LiteralRule(values, GetParam().spelling, parts.context));
  IrRecognizer recognizer(ir);
  for (const char* text : {"\"a\"", "1", "2.5", "null", "true", R"([1,"b"])", R"({"y":1,"x":[]})"})
    EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const char* text : {"\"b\"", "2", "false", "[1]", "[]", R"({"y":1})", R"(["b",1])", "{}"})
    EXPECT_FALSE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Options, LiteralRuleTest,
    testing::ValuesIn(std::vector<LiteralCase>{
        {"Any",
         CompactOptions(),
         NumberSpelling::kAny,
         {"1.0", "10e-1", "25e-1", R"("\u0061")", R"([1.0,"\u0062"])"},
         {R"({"x":[],"y":1})", "[1, \"b\"]"}},
        {"AnyOrder",
         InAnyOrder(),
         NumberSpelling::kAny,
         {R"({"x":[],"y":1})"},
         {R"({"x":[],"y":1,"x":[]})"}},
        {"Canonical", Canonical(), NumberSpelling::kAny, {}, {"1.0", "2.50", R"("\u0061")"}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LiteralRule, PlainNumbersAreThoseOutside) {
  RuleParts parts(R"({"enum":[3,[1]]})");
  const std::vector<JsonValue> values = parts.MergedRoot().ListedValues();
  const NodeId node = LiteralRule(values, NumberSpelling::kPlain, parts.context);
  const GrammarIr ir = parts.GrammarOf(node);
  IrRecognizer recognizer(ir);
  EXPECT_TRUE(recognizer.Accepts("3"));
  EXPECT_FALSE(recognizer.Accepts("3.0"));
  EXPECT_TRUE(recognizer.Accepts("[1.0]"));
}

}  // namespace
}  // namespace maskd
