// Strings that satisfy a keyword: asked one by one, and as the slow recogniser reads the language.
#include "grammar_core/frontend/json_schema/logic/string_facets.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

using K = Keyword;

struct FacetParts {
  Limits limits;
  Budget budget = Budget::Unlimited();
  IrBuilder builder{limits};
  StringFacets facets{limits, budget, builder};
  JsonDocument document;

  explicit FacetParts(const char* schema) : document(*JsonDocument::Parse(schema, limits)) {}
  [[nodiscard]] JsonValue At(const char* key) const { return document.root().Find(key).value(); }
};

struct StringsCase {
  const char* name;
  Keyword keyword;
  const char* schema;  // whose first member, or first pattern, is the facet
  std::vector<std::string> matches;
  std::vector<std::string> others;
};

class StringFacetTest : public testing::TestWithParam<StringsCase> {
 protected:
  [[nodiscard]] Facet FacetOf(const FacetParts& parts, bool negated) const {
    JsonValue at = parts.document.root().Nth(0).value();
    if (GetParam().keyword == K::kPatternProperties) at = at.Nth(0).value();
    return {GetParam().keyword, at, negated};
  }
};

TEST_P(StringFacetTest, HoldsForTheseOrForTheOthers) {
  FacetParts parts(GetParam().schema);
  for (const bool negated : {false, true}) {
    const Facet facet = FacetOf(parts, negated);
    for (const std::string& text : GetParam().matches)
      EXPECT_EQ(*parts.facets.Holds(facet, text), !negated) << text;
    for (const std::string& text : GetParam().others)
      EXPECT_EQ(*parts.facets.Holds(facet, text), negated) << text;
  }
  EXPECT_TRUE(StringFacets::Concerns(FacetOf(parts, false)));
}

TEST_P(StringFacetTest, ItsLanguageHasTheSame) {
  for (const bool negated : {false, true}) {
    FacetParts parts(GetParam().schema);
    const NodeId language = *parts.facets.Language(FacetOf(parts, negated));
    const RuleId rule = parts.builder.DeclareRule("strings", "");
    parts.builder.DefineRule(rule, parts.builder.Encode(Spelling::kUtf8, language));
    const GrammarIr ir = *std::move(parts.builder).Build(rule);
    IrRecognizer recognizer(ir);
    for (const std::string& text : GetParam().matches)
      EXPECT_EQ(recognizer.Accepts(text), !negated) << text;
    for (const std::string& text : GetParam().others)
      EXPECT_EQ(recognizer.Accepts(text), negated) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Facets, StringFacetTest,
    testing::ValuesIn(std::vector<StringsCase>{
        {"PatternIsSearched", K::kPattern, R"({"pattern":"b+"})", {"b", "abba"}, {"", "a", "B"}},
        {"PatternAnchored",
         K::kPattern,
         R"({"pattern":"^a.c$"})",
         {"abc",
          "a\xc3\xa9"
          "c"},
         {"abcd", "xabc", "ac"}},
        {"NameOfAPattern",
         K::kPatternProperties,
         R"({"patternProperties":{"^x-":{}}})",
         {"x-", "x-a"},
         {"x", "ax-"}},
        {"Const", K::kConst, R"({"const":"a"})", {"a"}, {"", "aa", "A"}},
        {"ConstOfAnotherType", K::kConst, R"({"const":1})", {}, {"1", ""}},
        {"Enum", K::kEnum, R"({"enum":["a",1,"\u00e9",["b"]]})", {"a", "\xc3\xa9"}, {"1", "b"}},
        {"Ipv4",
         K::kFormat,
         R"({"format":"ipv4"})",
         {"127.0.0.1", "255.255.255.255"},
         {"256.0.0.1", "1.2.3", "01.2.3.4"}},
        {"Uuid",
         K::kFormat,
         R"({"format":"uuid"})",
         {"2EB8AA08-aa98-11ea-b4aa-73b441d16380"},
         {"2eb8aa08aa9811eab4aa73b441d16380", ""}},
        {"Email", K::kFormat, R"({"format":"email"})", {"joe@example.com"}, {"joe", "@x", ""}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StringFacets, ConcernsNoNumbers) {
  FacetParts parts(R"({"minimum":1})");
  for (const K keyword : {K::kMinimum, K::kMultipleOf, K::kExclusiveMaximum, K::kType}) {
    const Facet facet = {keyword, parts.At("minimum")};
    EXPECT_FALSE(StringFacets::Concerns(facet));
    EXPECT_TRUE(*parts.facets.Holds(facet, "a"));
  }
}

TEST(StringFacets, EqualPatternsAreOneNode) {
  FacetParts parts(R"({"a":"^x+$","b":"^x+$","c":"^y+$"})");
  const auto node = [&](const char* key) {
    return *parts.facets.Language({K::kPattern, parts.At(key)});
  };
  EXPECT_EQ(node("a"), node("b"));
  EXPECT_NE(node("a"), node("c"));
}

TEST(StringFacets, AskingOfAStringAddsNothingToTheGrammar) {
  FacetParts parts(R"({"pattern":"^(a|bc)+[0-9]{3}$"})");
  const std::size_t nodes = parts.builder.ir().nodes.size();
  EXPECT_TRUE(*parts.facets.Holds({K::kPattern, parts.At("pattern")}, "abc123"));
  EXPECT_EQ(parts.builder.ir().nodes.size(), nodes);
}

struct ErrorCase {
  const char* name;
  const char* pattern;
  absl::StatusCode code;
};

class PatternErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(PatternErrorTest, IsAtTheKeyword) {
  FacetParts parts(GetParam().pattern);
  const Facet facet = {K::kPattern, parts.At("pattern")};
  for (const absl::Status& status :
       {parts.facets.Language(facet).status(), parts.facets.Holds(facet, "a").status()}) {
    EXPECT_EQ(status.code(), GetParam().code);
    EXPECT_TRUE(ErrorPlace(status).starts_with("/pattern")) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, PatternErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"OpenGroup", R"({"pattern":"(a"})", absl::StatusCode::kInvalidArgument},
        {"BackReference", R"({"pattern":"(a)\\1"})", absl::StatusCode::kUnimplemented},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StringFacets, StringsBetweenTheLanguagesOfAFormatAreRefused) {
  FacetParts parts(R"({"format":"regex"})");
  const Facet facet = {K::kFormat, parts.At("format")};
  EXPECT_TRUE(*parts.facets.Holds(facet, "a+b"));
  const absl::Status status = parts.facets.Holds(facet, "(a").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(status), "/format");
}

TEST(StringFacets, FormatsThatLeaveStringsOutAreToldOnceTheGrammarHasThem) {
  FacetParts parts(R"({"a":"email","b":"uuid","c":"regex"})");
  for (const char* key : {"a", "b"}) (void)parts.facets.Language({K::kFormat, parts.At(key)});
  (void)parts.facets.Holds({K::kFormat, parts.At("c")}, "a");
  const std::map<std::string, std::string> wanted = {{"/a", "email"}};
  EXPECT_EQ(parts.facets.bounded_formats(), wanted);
}

}  // namespace
}  // namespace maskd
