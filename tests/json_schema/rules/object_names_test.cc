// The names of an object: in which order they are declared, and that the classes of all others hold
// each name once.
#include "grammar_core/frontend/json_schema/rules/object_names.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json_schema/logic/object_formula.h"
#include "grammar_core/ir/text_match.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

// The names of one schema, its choices and atoms as conditions.
struct NamesParts : RuleParts {
  const Conjunction all;
  const MergedSchema schema;
  const ObjectConditions conditions;
  ObjectNames names;

  explicit NamesParts(absl::string_view text)
      : RuleParts(text),
        all(All()),
        schema(Merge(logic, all)),
        conditions(ClausesOf()),
        names(schema, conditions, context) {}

  [[nodiscard]] bool HasText(NodeId language, const std::string& text) {
    return *MatchesText(builder.ir(), language, Utf8ToCodePoints(text).value(), budget);
  }

 private:
  Clauses ClausesOf() {
    ObjectFormula formula(logic);
    Clauses clauses;
    for (const std::vector<Claim>* claims : {&all.atoms, &all.choices}) {
      for (const Claim& claim : *claims) {
        const Clauses more = formula.Of(claim).value();
        clauses.insert(clauses.end(), more.begin(), more.end());
      }
    }
    return clauses;
  }
};

// In their order, "*" behind those of `properties` and "!" behind those that must be there.
std::string Shown(const std::vector<DeclaredName>& names) {
  return absl::StrJoin(names, " ", [](std::string* out, const DeclaredName& name) {
    absl::StrAppend(out, name.text, name.in_properties ? "*" : "", name.required ? "!" : "");
  });
}

struct DeclaredCase {
  const char* name;
  const char* schema;
  const char* declared;
};

class DeclaredNamesTest : public testing::TestWithParam<DeclaredCase> {};

TEST_P(DeclaredNamesTest, StandInOrder) {
  NamesParts parts(GetParam().schema);
  ASSERT_TRUE(parts.names.Read().ok());
  EXPECT_EQ(Shown(parts.names.declared()), GetParam().declared);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, DeclaredNamesTest,
    testing::ValuesIn(std::vector<DeclaredCase>{
        {"None", R"({"type":"object"})", ""},
        {"Properties", R"({"properties":{"b":true,"a":true}})", "b* a*"},
        {"RequiredBehind", R"({"required":["z","a"],"properties":{"b":true,"a":true}})",
         "b* a*! z!"},
        {"OfSeveral", R"({"allOf":[{"properties":{"b":true}},{"properties":{"a":true,"b":false}}],
            "required":["c"]})",
         "b* a* c!"},
        {"OfConditions", R"({"properties":{"a":true},"type":"object",
            "anyOf":[{"required":["x"]},{"required":["a"]}]})",
         "a* x"},
        {"OfOneThatMustFail", R"({"not":{"properties":{"a":{"minimum":1}}}})", "a!"},
        {"OfOneThatMustNotBe", R"({"not":{"required":["a"]}})", "a"},
        {"ListedByPropertyNames", R"({"propertyNames":{"enum":["y","x"]}})", "x y"},
        {"OfAClosedOneThatMustFail",
         R"({"not":{"properties":{"a":true,"b":true},"additionalProperties":{"minimum":1}}})",
         "a b"},
    }),
    [](const auto& test) { return test.param.name; });

class NameClassesTest : public testing::TestWithParam<NamedSchema> {};

// Each name that is allowed and not declared is in one class, which behaves like it.
TEST_P(NameClassesTest, HaveEachOtherNameOnce) {
  NamesParts parts(GetParam().schema);
  ASSERT_TRUE(parts.names.Read().ok());
  std::vector<std::pair<ObjectNames::Name, NodeId>> classes;
  const absl::Status visited =
      parts.names.VisitOthers([&](const ObjectNames::Name& name, NodeId language) {
        classes.emplace_back(name, language);
      });
  ASSERT_TRUE(visited.ok());
  const std::optional<JsonValue> patterns = parts.schemas.root().Find("patternProperties");
  const std::optional<JsonValue> limit = parts.schemas.root().Find("propertyNames");
  for (const std::string text : {"", "a", "b", "ab", "ba", "abc", "x", "xa", "xyz", "\xc3\xa9"}) {
    if (std::ranges::any_of(parts.names.declared(),
                            [&](const DeclaredName& name) { return name.text == text; })) {
      continue;
    }
    int count = 0;
    const MemberName known = parts.checker.NameOf(text);
    for (const auto& [name, language] : classes) {
      if (!parts.HasText(language, text)) continue;
      ++count;
      EXPECT_FALSE(name.member.text.has_value());
      bool some = false;
      if (patterns.has_value()) {
        for (const JsonValue pattern : patterns->children()) {
          EXPECT_EQ(name.member.matches(pattern), known.matches(pattern)) << text;
          some |= known.matches(pattern);
        }
      }
      EXPECT_EQ(name.matches_some, some) << text;
    }
    const bool allowed =
        !limit.has_value() || *parts.checker.StringFits(text, parts.Holds("/propertyNames"));
    EXPECT_EQ(count, allowed ? 1 : 0) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, NameClassesTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Any", R"({"type":"object"})"},
        {"Declared", R"({"properties":{"a":true,"ab":true}})"},
        {"Pattern", R"({"properties":{"a":true},"patternProperties":{"^a":true}})"},
        {"Patterns", R"({"patternProperties":{"^a":true,"b$":true,"x":true}})"},
        {"PatternsApart", R"({"patternProperties":{"^a":true,"^b":true,"^xyz$":true}})"},
        {"Names", R"({"propertyNames":{"maxLength":1},"patternProperties":{"a":true}})"},
        {"ListedNames", R"({"propertyNames":{"enum":["a","xa"]}})"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ObjectNames, PropertyNamesForbidDeclaredOnes) {
  NamesParts parts(R"({"properties":{"a":true,"bc":true},"propertyNames":{"maxLength":1},
                       "patternProperties":{"c":true}})");
  ASSERT_TRUE(parts.names.Read().ok());
  ASSERT_EQ(parts.names.declared().size(), 2);
  const ObjectNames::Name a = parts.names.Declared(parts.names.declared()[0]);
  EXPECT_FALSE(a.forbidden);
  EXPECT_FALSE(a.matches_some);
  EXPECT_EQ(a.member.text, "a");
  EXPECT_TRUE(a.satisfies(parts.Holds("/propertyNames")));
  const ObjectNames::Name bc = parts.names.Declared(parts.names.declared()[1]);
  EXPECT_TRUE(bc.forbidden);
  EXPECT_TRUE(bc.matches_some);
  EXPECT_FALSE(bc.satisfies(parts.Holds("/propertyNames")));
}

TEST(ObjectNames, AClassSatisfiesAPropertyNamesOfAConditionOrNot) {
  NamesParts parts(R"({"type":"object","anyOf":[{"propertyNames":{"maxLength":1}},
                       {"required":["q"]}]})");
  ASSERT_TRUE(parts.names.Read().ok());
  const Claim limit = parts.Holds("/anyOf/0/propertyNames");
  int classes = 0;
  ASSERT_TRUE(parts.names
                  .VisitOthers([&](const ObjectNames::Name& name, NodeId language) {
                    ++classes;
                    EXPECT_EQ(parts.HasText(language, "a"), name.satisfies(limit));
                    EXPECT_EQ(parts.HasText(language, "ab"), !name.satisfies(limit));
                  })
                  .ok());
  EXPECT_EQ(classes, 2);
}

// A schema of `count` patterns, each of which a name may match or not.
std::string Patterns(int count) {
  std::vector<std::string> patterns;
  for (int i = 0; i < count; ++i) patterns.push_back(absl::StrCat("\"", i, "\":true"));
  return absl::StrCat(R"({"patternProperties":{)", absl::StrJoin(patterns, ","), "}}");
}

TEST(ObjectNames, TooManyPatternsThatMeetAreALimit) {
  NamesParts fits(Patterns(8));
  EXPECT_TRUE(fits.names.Read().ok());
  NamesParts parts(Patterns(9));
  EXPECT_EQ(parts.names.Read().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ObjectNames, APatternThatCannotBeReadIsAnError) {
  NamesParts parts(R"({"patternProperties":{"a":true,"(b":true}})");
  const absl::Status status = parts.names.Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), "/patternProperties/(b");
}

}  // namespace
}  // namespace maskd
