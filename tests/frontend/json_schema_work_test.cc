// Schemas whose parts multiply are refused for their amount of work, at a place, and no work is
// done behind that. Each takes far more than is counted if only what is read is counted.
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/compile/pipeline.h"

namespace maskd {
namespace {

// `each(i)` for i from 0 to `count` - 1, with commas.
std::string Listed(int count, const std::function<std::string(int)>& each) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, i > 0 ? "," : "", each(i));
  return out;
}

// `before`, an allOf of `count` schemas, `behind`.
std::string AllOf(absl::string_view before, int count,
                  const std::function<std::string(int)>& each) {
  return absl::StrCat("{", before, "\"allOf\":[", Listed(count, each), "]}");
}

// `first`, with definitions each of which leads to the next in the way of `each(next)`.
std::string Chain(absl::string_view first, int count,
                  const std::function<std::string(int, std::string)>& each,
                  absl::string_view last) {
  const auto definition = [&](int i) {
    const std::string next = absl::StrCat("{\"$ref\":\"#/$defs/d", i + 1, "\"}");
    return absl::StrCat("\"d", i, "\":", each(i, next));
  };
  return absl::StrCat("{", first, ",\"$defs\":{", Listed(count, definition), ",\"d", count,
                      "\":", last, "}}");
}

std::string Numbered(absl::string_view keyword, int i) {
  return absl::StrCat("{\"", keyword, "\":", i, "}");
}

std::string Watchers(int count) {
  return Chain(
      "\"$ref\":\"#/$defs/d0\"", count,
      [](int i, const std::string& next) {
        return absl::StrCat("{\"unevaluatedProperties\":", Numbered("maxLength", i), ",",
                            next.substr(1));
      },
      "{}");
}

std::string Scopes(int count) {
  const std::string resources = Listed(count, [](int i) {
    return absl::StrCat("\"r", i, "\":{\"$id\":\"https://a.example/r", i,
                        "\",\"$dynamicAnchor\":\"d", i, "\",\"$ref\":\"r", i + 1, "\"}");
  });
  return absl::StrCat(R"({"$id":"https://a.example/root","$ref":"r0","$defs":{)", resources, ",\"r",
                      count, R"(":{"$id":"https://a.example/r)", count,
                      R"(","properties":{"p":{"$dynamicRef":"r0#d0"}}}}})");
}

std::string FailingChains(int count) {
  const std::string all = AllOf(
      "", count, [](int i) { return absl::StrCat("{\"not\":{\"$ref\":\"#/$defs/d", i, "\"}}"); });
  return Chain(
      all.substr(1, all.size() - 2), count,
      [](int i, const std::string& next) {
        return absl::StrCat("{\"minLength\":", i + 1, ",", next.substr(1));
      },
      "{\"maxLength\":5}");
}

std::string NestedChoices(int levels) {
  return Chain(
      R"("type":"object","if":{"$ref":"#/$defs/d0"},"then":{"minProperties":1})", levels,
      [](int, const std::string& next) {
        return absl::StrCat("{\"anyOf\":[", Listed(6, [&](int) { return next; }), "]}");
      },
      R"({"required":["a"]})");
}

std::string SureEvaluators(int count) {
  return Chain(
      R"("not":{"unevaluatedProperties":false,"$ref":"#/$defs/d0"})", count,
      [](int i, const std::string& next) {
        return absl::StrCat("{\"minLength\":", i, ",", next.substr(1));
      },
      R"({"properties":{"a":true}})");
}

std::string DynamicReferences(int count) {
  const std::string all = AllOf(R"("$id":"https://a.example/root",)", count, [](int i) {
    return absl::StrCat(R"({"$dynamicRef":"r0#a","minLength":)", i, "}");
  });
  const std::string resources = Listed(count, [](int i) {
    return absl::StrCat("\"r", i, R"(":{"$id":"https://a.example/r)", i,
                        R"(","$dynamicAnchor":"a"})");
  });
  return absl::StrCat(all.substr(0, all.size() - 1), ",\"$defs\":{", resources, "}}");
}

std::string Properties(int count) {
  return absl::StrCat("\"properties\":{",
                      Listed(count, [](int i) { return absl::StrCat("\"p", i, "\":true"); }), "},");
}

std::string Large(absl::string_view keyword, int count) {
  return absl::StrCat("{\"", keyword, "\":[", Listed(count, [](int i) { return absl::StrCat(i); }),
                      "]}");
}

struct WorkCase {
  const char* name;
  std::string schema;
  const char* place;  // that the error's place begins with
};

std::ostream& operator<<(std::ostream& out, const WorkCase& test) { return out << test.name; }

class JsonSchemaWorkTest : public testing::TestWithParam<WorkCase> {};

TEST_P(JsonSchemaWorkTest, IsRefusedAtAPlaceAndEnds) {
  constexpr std::int64_t kWork = 100'000;
  Budget::Bounds bounds;
  bounds.work = kWork;
  Budget budget(bounds);
  const absl::Status status =
      ReduceGrammar({"json_schema", GetParam().schema, {}}, Limits(), budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("limit compile_work"), absl::string_view::npos) << status;
  EXPECT_EQ(ErrorPlace(status).substr(0, std::string(GetParam().place).size()), GetParam().place);
  EXPECT_LT(budget.spent(), 2 * kWork);
}

INSTANTIATE_TEST_SUITE_P(
    Products, JsonSchemaWorkTest,
    testing::ValuesIn(std::vector<WorkCase>{
        {"Facets",
         AllOf(R"("type":"number",)", 12'000, [](int i) { return Numbered("minimum", i); }),
         "/allOf/"},
        {"ItemsOfManySchemas",
         AllOf(R"("type":"array",)", 9'000,
               [](int i) { return absl::StrCat("{\"items\":", Numbered("minLength", i), "}"); }),
         "/allOf/"},
        {"MembersBesideManySchemas",
         AllOf(absl::StrCat(R"("type":"object",)", Properties(2'000)), 2'000,
               [](int i) { return Numbered("maxProperties", 9'000 + i); }),
         ""},
        {"Watchers", Watchers(1'200), "/$defs/d"},
        {"Scopes", Scopes(400), "/$defs/r"},
        {"FailingChains", FailingChains(700), "/$defs/d"},
        {"NestedChoices", NestedChoices(7), "/$defs/d"},
        {"NegatedOneOfs",
         AllOf("", 150,
               [](int i) {
                 return absl::StrCat("{\"not\":{\"minLength\":", i, ",\"oneOf\":[",
                                     Listed(60, [](int) { return "true"; }), "]}}");
               }),
         "/allOf/"},
        {"SureEvaluators", SureEvaluators(1'500), "/$defs/d"},
        {"DynamicReferences", DynamicReferences(1'000), ""},
        {"LongStringBesideManySchemas",
         AllOf(absl::StrCat("\"const\":\"", std::string(100'000, 'x'), "\","), 1'000,
               [](int i) { return Numbered("minLength", i); }),
         "/allOf/"},
        {"LongStringIsNoneOfMany",
         AllOf(absl::StrCat("\"const\":\"", std::string(100'000, 'x'), "\","), 1'000,
               [](int i) { return absl::StrCat("{\"not\":", Numbered("const", i), "}"); }),
         "/const"},
        {"ValuesBesideManySchemas",
         AllOf(absl::StrCat(Large("enum", 1'000).substr(1, Large("enum", 1'000).size() - 2), ","),
               1'000, [](int i) { return Numbered("maxItems", i); }),
         "/allOf/"},
        {"Divisors",
         AllOf(R"("type":"number",)", 2'000,
               [](int i) { return absl::StrCat("{\"multipleOf\":1,\"maxItems\":", i, "}"); }),
         "/allOf/"},
    }),
    [](const auto& test) { return test.param.name; });

// What was found to be the same is looked into once, however often it is named.
TEST(JsonSchemaWorkTest, WhatIsNamedTwiceIsNotTwiceTheWork) {
  const std::string chain = Chain(
      R"("not":{"$ref":"#/$defs/d0"})", 40,
      [](int, const std::string& next) {
        return absl::StrCat("{\"allOf\":[", next, ",", next, "]}");
      },
      R"({"type":"object"})");
  for (const char* beside : {"", R"("allOf":[{"$ref":"#/$defs/d0"}],)"}) {
    Budget budget = Budget::Unlimited();
    const std::string schema = absl::StrCat("{", beside, chain.substr(1));
    const absl::Status status =
        ReduceGrammar({"json_schema", schema, {}}, Limits(), budget).status();
    EXPECT_EQ(status.code(),
              *beside == '\0' ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
    EXPECT_LT(budget.spent(), 20'000);
  }
}

// Two lists of values are compared by look-ups.
TEST(JsonSchemaWorkTest, ListsOfValuesAreComparedByKeys) {
  Budget budget = Budget::Unlimited();
  const std::string schema =
      absl::StrCat("{\"oneOf\":[", Large("enum", 30'000), ",{\"enum\":[",
                   Listed(30'000, [](int i) { return absl::StrCat(-1 - i); }), "]}]}");
  const auto read = ReduceGrammar({"json_schema", schema, {}}, Limits(), budget);
  EXPECT_TRUE(read.ok()) << read.status();
}

// A set of letters is hundreds of ranges.
TEST(RegexWorkTest, SetsOfLettersAreCounted) {
  std::string pattern = "(?i)";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&pattern, "[\\p{L}\\d]\\p{L}");
  Budget::Bounds bounds;
  bounds.work = 100'000;
  Budget budget(bounds);
  const absl::Status status = ReduceGrammar({"regex", pattern, {}}, Limits(), budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("limit compile_work"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace maskd
