// Whole schemas: their grammars by the slow recogniser, held against the validator.
#include "grammar_core/frontend/json_schema/rules/schema_compiler.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> CompileSchema(absl::string_view text,
                                         const GrammarOptions& options = CompactOptions(),
                                         const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas = LoadSchemas(text, limits, budget);
  return SchemaCompiler(schemas, options, SchemaValues::kInline, limits, budget).Compile();
}

class CompiledSchemaTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(CompiledSchemaTest, HasTheValuesThatAreValid) {
  GrammarOptions options = CompactOptions();
  options.property_order = PropertyOrder::kAny;
  const absl::StatusOr<ReadResult> result = CompileSchema(GetParam().schema, options);
  ASSERT_TRUE(result.ok()) << result.status();
  SchemaParts parts(GetParam().schema);
  IrRecognizer recognizer(result->ir);
  for (const std::string& value : SmallValues())
    EXPECT_EQ(recognizer.Accepts(value), parts.Validates(value, parts.Holds(""))) << value;
  EXPECT_TRUE(result->warnings.empty());
}

INSTANTIATE_TEST_SUITE_P(Combined, CompiledSchemaTest, testing::ValuesIn(CombinedSchemas()),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Others, CompiledSchemaTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Recursive", R"({"type":["object","array","integer"],"items":{"$ref":"#"},
            "additionalProperties":{"$ref":"#"}})"},
        {"Unevaluated", R"({"anyOf":[{"properties":{"a":true},"required":["a"]},
            {"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false})"},
        {"NestedUnevaluated", R"({"enum":[{"a":1},{"a":"x"},3],"allOf":[
            {"unevaluatedProperties":{"type":"integer"}}],"unevaluatedProperties":false})"},
        {"Unique", R"({"uniqueItems":true})"},
        {"ListedInBranches", R"({"anyOf":[{"enum":[1,"a"]},{"const":{"a":1}},{"type":"null"}]})"},
        {"EitherMember", R"({"type":"object","anyOf":[{"properties":{"a":{"type":"integer"}}},
            {"properties":{"b":{"type":"string"}}}]})"},
        {"Draft4", R"({"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,
            "exclusiveMinimum":true,"type":["number","null"]})"},
    }),
    [](const auto& test) { return test.param.name; });

struct FaultCase {
  const char* name;
  const char* schema;
  const char* place;
};

class UnsatisfiableSchemaTest : public testing::TestWithParam<FaultCase> {};

// The reason is kept, for who finds that the start has no text.
TEST_P(UnsatisfiableSchemaTest, HasNoTextAndAReason) {
  const absl::StatusOr<ReadResult> result = CompileSchema(GetParam().schema);
  ASSERT_TRUE(result.ok()) << result.status();
  const IrNode& body = result->ir.nodes[result->ir.rules[result->ir.start].body];
  EXPECT_EQ(body.kind, IrKind::kNothing);
  const auto fault = result->faults.find(result->ir.start);
  ASSERT_NE(fault, result->faults.end());
  EXPECT_EQ(fault->second.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(fault->second), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, UnsatisfiableSchemaTest,
    testing::ValuesIn(std::vector<FaultCase>{
        {"False", R"({"allOf":[false]})", "/allOf/0"},
        {"Types", R"({"type":"string","allOf":[{"type":"null"}]})", "/allOf/0/type"},
        {"Const", R"({"const":3,"maximum":2})", "/const"},
        {"Enum", R"({"enum":[3,4],"maximum":2})", "/enum"},
        {"Branches", R"({"type":"string","anyOf":[{"type":"null"},{"const":1}]})", "/anyOf"},
        {"Bounds", R"({"type":"integer","minimum":2,"maximum":1})", "/maximum"},
        {"Excluded", R"({"type":"null","not":{"const":null}})", ""},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SchemaCompiler, WhatIsNotSupportedIsRefusedOrDropped) {
  constexpr char kSchema[] = R"({"properties":{"a":{"type":"string","pattern":"(a)\\1"}}})";
  const absl::Status status = CompileSchema(kSchema).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(ErrorPlace(status).starts_with("/properties/a/pattern")) << status;
  GrammarOptions options = CompactOptions();
  options.strictness = Strictness::kRelax;
  const absl::StatusOr<ReadResult> relaxed = CompileSchema(kSchema, options);
  ASSERT_TRUE(relaxed.ok());
  ASSERT_EQ(relaxed->warnings.size(), 1);
  EXPECT_EQ(relaxed->warnings[0].place, "/properties/a/pattern");
  IrRecognizer recognizer(relaxed->ir);
  EXPECT_TRUE(recognizer.Accepts(R"({"a":"x"})"));
}

TEST(SchemaCompiler, ABrokenPatternIsNeverDropped) {
  GrammarOptions options = CompactOptions();
  options.strictness = Strictness::kRelax;
  const absl::Status status =
      CompileSchema(R"({"type":"string","pattern":"(a"})", options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(SchemaCompiler, OnlySoManySetsOfSchemasArePutTogether) {
  Limits limits;
  limits.schema_sets = 2;
  std::string schema = R"({"type":"object","properties":{)";
  for (int i = 0; i < 9; ++i) {
    if (i > 0) schema += ",";
    schema += "\"p" + std::to_string(i) + R"(":{"anyOf":[{"minItems":)" + std::to_string(i + 1) +
              R"(},{"minProperties":)" + std::to_string(i + 1) + "}]}";
  }
  schema += R"(},"patternProperties":{"^p":{"anyOf":[{"maxItems":99},{"maxProperties":98}]}}})";
  const absl::Status status = CompileSchema(schema, CompactOptions(), limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::string(status.message()).find("schema_sets") != std::string::npos) << status;
  EXPECT_TRUE(CompileSchema(schema).ok());
}

TEST(SchemaCompiler, StopsWhereTheBudgetEnds) {
  const Limits limits;
  Budget reading = Budget::Unlimited();
  const SchemaSet schemas = LoadSchemas(
      R"({"properties":{"a":{"items":{"minimum":1}},"b":{"enum":[1,2]}}})", limits, reading);
  Budget budget(Budget::Bounds{.work = 5});
  const absl::Status status =
      SchemaCompiler(schemas, CompactOptions(), SchemaValues::kInline, limits, budget)
          .Compile()
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

std::vector<std::string> BoundsOf(absl::string_view schema, const GrammarOptions& options) {
  std::vector<std::string> places;
  const absl::StatusOr<ReadResult> result = CompileSchema(schema, options);
  for (const Diagnostic& bound : result->bounds) places.push_back(bound.place);
  return places;
}

TEST(SchemaCompiler, TellsWhatIsBounded) {
  using Places = std::vector<std::string>;
  EXPECT_EQ(BoundsOf("true", CompactOptions()), (Places{"options.max_number_digits"}));
  EXPECT_EQ(BoundsOf("true", {}), (Places{"options.max_whitespace", "options.max_number_digits"}));
  EXPECT_EQ(BoundsOf("true", {.indent = 2}), (Places{"options.max_number_digits"}));
  EXPECT_EQ(BoundsOf(R"({"type":"string","format":"email"})", CompactOptions()),
            (Places{"options.max_number_digits", "/format"}));
  EXPECT_EQ(BoundsOf(R"({"type":"array","uniqueItems":true})", CompactOptions()),
            (Places{"options.max_number_digits", "/uniqueItems"}));
}

}  // namespace
}  // namespace maskd
