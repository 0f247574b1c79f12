#include "grammar_core/frontend/json_schema/rules/schema_values.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/frontend/json_schema/rules/schema_compiler.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

constexpr char kPerson[] = R"({"type":"object","properties":{"name":{"type":"string"},
  "age":{"type":"integer","minimum":0},"kind":{"enum":["x","y"]},"tags":{"type":"array",
  "items":{"type":"null"}}},"additionalProperties":false})";

GrammarIr CompiledWith(SchemaValues values) {
  const Limits limits;
  const GrammarOptions options = CompactOptions();
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas = LoadSchemas(kPerson, limits, budget);
  return SchemaCompiler(schemas, options, values, limits, budget).Compile()->ir;
}

std::vector<std::string> RulePlaces(const GrammarIr& ir) {
  std::vector<std::string> places;
  for (const IrRule& rule : ir.rules) places.push_back(rule.place);
  std::ranges::sort(places);
  return places;
}

TEST(SchemaValues, InnerValuesAreRulesForWhoReadsTheIr) {
  using Places = std::vector<std::string>;
  EXPECT_EQ(RulePlaces(CompiledWith(SchemaValues::kInline)), (Places{"", "/properties/tags"}));
  EXPECT_EQ(RulePlaces(CompiledWith(SchemaValues::kRules)),
            (Places{"", "/properties/age", "/properties/kind", "/properties/name",
                    "/properties/tags", "/properties/tags/items"}));
}

TEST(SchemaValues, TheTextsAreTheSame) {
  for (const SchemaValues values : {SchemaValues::kInline, SchemaValues::kRules}) {
    const GrammarIr ir = CompiledWith(values);
    IrRecognizer recognizer(ir);
    for (const char* text : {"{}", R"({"name":"a","age":3,"kind":"x","tags":[null]})"})
      EXPECT_TRUE(recognizer.Accepts(text)) << text;
    for (const char* text : {"[]", R"({"age":-1})", R"({"kind":"z"})", R"({"tags":[1]})"})
      EXPECT_FALSE(recognizer.Accepts(text)) << text;
  }
}

}  // namespace
}  // namespace maskd
