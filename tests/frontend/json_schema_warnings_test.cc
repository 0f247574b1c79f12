// What a schema says that the grammar does not hold it to is always reported.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/reading.h"

namespace maskd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<std::string> WarningsOf(absl::string_view schema,
                                    Strictness strictness = Strictness::kRefuse) {
  GrammarOptions options;
  options.strictness = strictness;
  const auto read = ReadForTest("json_schema", schema, options);
  EXPECT_TRUE(read.ok()) << read.status();
  std::vector<std::string> warnings;
  if (!read.ok()) return warnings;
  for (const Diagnostic& warning : read->warnings)
    warnings.push_back(absl::StrCat(warning.place, ": ", warning.message));
  return warnings;
}

TEST(JsonSchemaWarningsTest, AnnotationsAreNone) {
  EXPECT_THAT(WarningsOf(R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x",
      "title":"t","description":"d","default":1,"examples":[],"$comment":"c","deprecated":true,
      "readOnly":true,"writeOnly":false,"$defs":{},"contentEncoding":"base64","$anchor":"a"})"),
              IsEmpty());
}

TEST(JsonSchemaWarningsTest, FormatAndUnknownKeywords) {
  EXPECT_THAT(WarningsOf(R"({"properties":{"a":{"format":"date"},"b":{"format":"color"}},
      "x-order":1})"),
              ElementsAre("/x-order: unknown keyword, treated as an annotation",
                          "/properties/b/format: unknown format, treated as an annotation"));
  EXPECT_THAT(WarningsOf(R"({"$schema":"https://json-schema.org/draft/2020-12/schema",
      "format":"date"})"),
              ElementsAre("/format: format is an annotation and not asserted"));
}

TEST(JsonSchemaWarningsTest, KeywordsOfOtherDraftsAreUnknown) {
  EXPECT_THAT(WarningsOf(R"({"$schema":"http://json-schema.org/draft-07/schema#",
      "prefixItems":[{}],"dependentRequired":{"a":["b"]}})"),
              SizeIs(2));
}

TEST(JsonSchemaWarningsTest, UnknownDialect) {
  EXPECT_THAT(WarningsOf(R"({"$schema":"http://127.0.0.1:9/meta","type":"null"})"),
              ElementsAre("/$schema: unknown dialect, read as draft 2020-12"));
}

TEST(JsonSchemaWarningsTest, IgnoredBesideRef) {
  EXPECT_THAT(WarningsOf(R"({"$schema":"http://json-schema.org/draft-07/schema#","properties":{
      "a":{"$ref":"#/definitions/s","maxLength":1,"title":"t"}},"definitions":{"s":{}}})"),
              ElementsAre(HasSubstr("/properties/a/maxLength: ignored beside $ref")));
}

TEST(JsonSchemaWarningsTest, AdditionalItemsWithoutAList) {
  EXPECT_THAT(WarningsOf(R"({"items":{},"additionalItems":false})"),
              ElementsAre("/additionalItems: means nothing without a list in items"));
}

TEST(JsonSchemaWarningsTest, DeadOptionalPart) {
  EXPECT_THAT(
      WarningsOf(R"({"properties":{"a":{"type":"string","minLength":3,"maxLength":2}}})"),
      ElementsAre("/properties/a/maxLength: 2 is less than minLength 3, so this matches nothing"));
}

TEST(JsonSchemaWarningsTest, RelaxReportsEachDroppedKeywordOnce) {
  EXPECT_THAT(WarningsOf(R"({"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s"}},
      "items":{"type":"array","not":{"uniqueItems":true}},
      "$defs":{"s":{"type":"string","pattern":"(x)\\1"}}})",
                         Strictness::kRelax),
              UnorderedElementsAre("/items/not/uniqueItems: not supported, dropped",
                                   "/$defs/s/pattern: not supported, dropped"));
}

TEST(JsonSchemaWarningsTest, TooManyAreCut) {
  std::string schema = "{\"x0\":0";
  for (int i = 1; i < 2'000; ++i) absl::StrAppend(&schema, ",\"x", i, "\":0");
  const std::vector<std::string> warnings = WarningsOf(schema + "}");
  ASSERT_THAT(warnings, SizeIs(1001));
  EXPECT_EQ(warnings.back(), ": more than 1000 of these");
}

}  // namespace
}  // namespace maskd
