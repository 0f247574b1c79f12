// What is bounded or left out by rule is listed, by option or by place.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/reading.h"

namespace maskd {
namespace {

constexpr const char* kSpace = "options.max_whitespace";
constexpr const char* kDigits = "options.max_number_digits";

GrammarOptions Compact() {
  GrammarOptions options;
  options.white_space = WhiteSpace::kCompact;
  return options;
}

GrammarOptions Separated(bool items, bool keys) {
  GrammarOptions options;
  if (items) options.item_separator = ", ";
  if (keys) options.key_separator = ": ";
  return options;
}

struct BoundsCase {
  const char* name;
  const char* kind;
  const char* source;
  std::vector<std::string> places;
  GrammarOptions options = {};
};

class JsonSchemaBoundsTest : public testing::TestWithParam<BoundsCase> {};

TEST_P(JsonSchemaBoundsTest, AreListed) {
  const BoundsCase& one = GetParam();
  const auto read = ReadForTest(one.kind, one.source, one.options);
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<std::string> places;
  for (const Diagnostic& bound : read->bounds) places.push_back(bound.place);
  EXPECT_THAT(places, testing::ElementsAreArray(one.places));
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, JsonSchemaBoundsTest,
    testing::ValuesIn(std::vector<BoundsCase>{
        {"Any", "json_schema", "true", {kSpace, kDigits}},
        {"AnyObject", "json_object", "", {kSpace, kDigits}},
        {"CompactHasNoWhiteSpace", "json_schema", "true", {kDigits}, Compact()},
        {"ExactHasNoWhiteSpace", "json_schema", "true", {kDigits}, Separated(true, true)},
        {"OneSeparatorLeavesSome",
         "json_schema",
         "true",
         {kSpace, kDigits},
         Separated(true, false)},
        {"InexactFormat",
         "json_schema",
         R"({"properties":{"a/b":{"format":"hostname"},"d":{"format":"uuid"}}})",
         {kSpace, kDigits, "/properties/a~1b/format"}},
        {"DistinctValues",
         "json_schema",
         R"({"items":{"uniqueItems":true},"type":"array"})",
         {kSpace, kDigits, "/items/uniqueItems"}},
        {"FormatThatIsNotAsserted",
         "json_schema",
         R"({"$schema":"https://json-schema.org/draft/2020-12/schema","format":"hostname"})",
         {kSpace, kDigits}},
        {"ResponseFormat",
         "response_format",
         R"({"type":"json_schema","json_schema":{"schema":{"format":"hostname"}}})",
         {kSpace, kDigits, "/json_schema/schema/format"}},
        {"WithinLark", "lark", "start: %json {\"format\": \"hostname\"}", {"1:14", "1:14", "1:14"}},
        {"WordsHaveNone", "choice", R"(["a"])", {}},
        {"ExpressionsHaveNone", "regex", "a*", {}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(JsonSchemaBoundsTextTest, SaysWhatIsAllowed) {
  GrammarOptions options;
  options.max_whitespace = 3;
  options.max_number_digits = 12;
  const auto read = ReadForTest("json_schema", R"({"format":"hostname"})", options);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->bounds.size(), 3);
  EXPECT_EQ(read->bounds[0].message, "white space: at most 3 characters in a row");
  EXPECT_THAT(read->bounds[1].message, testing::StartsWith("numbers: at most 12 digits"));
  EXPECT_EQ(read->bounds[2].message,
            "format hostname: leaves out strings that docs/grammars.md names");
}

}  // namespace
}  // namespace maskd
