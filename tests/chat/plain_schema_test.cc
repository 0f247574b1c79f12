#include "grammar_core/frontend/chat/plain_schema.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

struct PlainCase {
  const char* name;
  const char* schema;
  const char* plain;
};

class PlainSchemaTest : public testing::TestWithParam<PlainCase> {};

TEST_P(PlainSchemaTest, SaysTheSame) {
  const auto document = *JsonDocument::Parse(GetParam().schema, Limits());
  EXPECT_EQ(PlainSchema(document.root()), GetParam().plain);
  const auto plain = *JsonDocument::Parse(GetParam().plain, Limits());
  EXPECT_EQ(PlainSchema(plain.root()), GetParam().plain);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, PlainSchemaTest,
    testing::ValuesIn(std::vector<PlainCase>{
        {"Boolean", "true", "true"},
        {"NoSchema", "[1, \"a\"]", "[1,\"a\"]"},
        {"Nothing", "{ }", "{}"},
        {"AllFour", R"({"title":"t","type":"null","description":"","$comment":"c","examples":[1]})",
         R"({"type":"null"})"},
        {"FirstAndLast", R"({"title":"t","a":1,"title2":"","examples":[]})",
         R"({"a":1,"title2":""})"},
        {"OfAnotherType", R"({"title":1,"description":{},"$comment":null,"examples":{"a":1}})",
         R"({"title":1,"description":{},"$comment":null,"examples":{"a":1}})"},
        {"Properties", R"({"properties":{"title":{"title":"t"},"examples":{"examples":[]}}})",
         R"({"properties":{"title":{},"examples":{}}})"},
        {"PropertyOfAKeyword", R"({"properties":{"properties":{"title":"t","type":"null"},
            "items":{"description":"d"},"enum":{"title":"t"}}})",
         R"({"properties":{"properties":{"type":"null"},"items":{},"enum":{}}})"},
        {"Maps", R"({"patternProperties":{"title":{"title":"t"}},"$defs":{"a":{"title":"t"}},
            "definitions":{"a":{"title":"t"}},"dependentSchemas":{"a":{"title":"t"}}})",
         R"({"patternProperties":{"title":{}},"$defs":{"a":{}},"definitions":{"a":{}},)"
         R"("dependentSchemas":{"a":{}}})"},
        {"Dependencies", R"({"dependencies":{"a":{"title":"t"},"title":["title"]}})",
         R"({"dependencies":{"a":{},"title":["title"]}})"},
        {"Lists", R"({"allOf":[{"title":"t"},true],"anyOf":[{"title":"t"}],
            "oneOf":[{"title":"t"}],"prefixItems":[{"title":"t"}]})",
         R"({"allOf":[{},true],"anyOf":[{}],"oneOf":[{}],"prefixItems":[{}]})"},
        {"Items", R"({"items":[{"title":"t"},{"items":{"title":"t"}}],
            "additionalItems":{"title":"t"}})",
         R"({"items":[{},{"items":{}}],"additionalItems":{}})"},
        {"Single", R"({"not":{"title":"t"},"if":{"title":"t"},"then":{"title":"t"},
            "else":{"title":"t"},"contains":{"title":"t"},"propertyNames":{"title":"t"},
            "additionalProperties":{"title":"t"},"unevaluatedItems":{"title":"t"},
            "unevaluatedProperties":{"title":"t"},"contentSchema":{"title":"t"}})",
         R"({"not":{},"if":{},"then":{},"else":{},"contains":{},"propertyNames":{},)"
         R"("additionalProperties":{},"unevaluatedItems":{},"unevaluatedProperties":{},)"
         R"("contentSchema":{}})"},
        {"Values", R"({"const":{"title":"t"},"enum":[{"title":"t"}],"default":{"title":"t"}})",
         R"({"const":{"title":"t"},"enum":[{"title":"t"}],"default":{"title":"t"}})"},
        {"Required", R"({"required":["title"],"dependentRequired":{"title":["title"]}})",
         R"({"required":["title"],"dependentRequired":{"title":["title"]}})"},
        {"Unknown", R"({"x-tra":{"title":"t"}})", R"({"x-tra":{"title":"t"}})"},
        {"Spelling", R"({"maximum":1.50e1, "pattern":"\u0041\n"})",
         R"({"maximum":1.50e1,"pattern":"A\n"})"},
        {"OneThatIsReferredTo", R"({"$ref":"#/examples/0","examples":[{"title":"t"}],"title":""})",
         R"({"$ref":"#/examples/0","examples":[{"title":"t"}]})"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(PlainSchema, DeepOnesNeedNoStack) {
  Limits limits;
  limits.source_depth = 100'000;
  std::string deep = "{}";
  std::string plain = "{}";
  for (int i = 0; i < 20'000; ++i) {
    deep.insert(0, R"({"title":"t","not":)").push_back('}');
    plain.insert(0, R"({"not":)").push_back('}');
  }
  const auto document = JsonDocument::Parse(deep, limits);
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(PlainSchema(document->root()), plain);
}

}  // namespace
}  // namespace maskd
