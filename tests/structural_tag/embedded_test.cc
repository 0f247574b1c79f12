#include "grammar_core/frontend/structural_tag/embedded.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/style_schemas.h"

namespace maskd {
namespace {

TEST(EmbeddedGrammars, AnEqualSchemaIsReadOnce) {
  TagParts parts;
  const JsonValue both = parts.Value(R"([{"type": "null"}, {"type":"null"}, {"type":"string"}])");
  const NodeId first = *parts.embedded.Schema(*both.Nth(0), {});
  EXPECT_EQ(*parts.embedded.Schema(*both.Nth(1), {}), first);
  EXPECT_NE(*parts.embedded.Schema(*both.Nth(2), {}), first);
}

TEST(EmbeddedGrammars, WhatIsWrittenOtherwiseIsReadAgain) {
  TagParts parts;
  const JsonValue schema = parts.Value(R"({"properties":{"a":{"type":"string"}}})");
  const auto of = [&](auto change) {
    SchemaWriting writing;
    change(&writing);
    return *parts.embedded.Schema(schema, writing);
  };
  const NodeId plain = of([](SchemaWriting*) {});
  EXPECT_NE(of([](SchemaWriting* w) { w->excludes = {"a"}; }), plain);
  EXPECT_NE(of([](SchemaWriting* w) { w->style = FindWrittenStyle("qwen_xml"); }), plain);
  EXPECT_NE(of([](SchemaWriting* w) { w->options.property_order = PropertyOrder::kAny; }), plain);
  EXPECT_NE(of([](SchemaWriting* w) { w->options.max_whitespace = 1; }), plain);
  EXPECT_NE(of([](SchemaWriting* w) { w->options.white_space = WhiteSpace::kCompact; }), plain);
  EXPECT_NE(of([](SchemaWriting* w) { w->options.spelling = JsonSpelling::kCanonical; }), plain);
  // The end of the tag around says nothing to JSON, which has its own end.
  EXPECT_EQ(of([](SchemaWriting* w) { w->ends = {"</a>"}; }), plain);
}

class ExcludedTest : public testing::TestWithParam<StyleSchema> {};

// JSON without a style: no string and no name holds what is excluded.
TEST_P(ExcludedTest, IsInNoString) {
  SchemaParts validator(GetParam().schema);
  for (const char* excluded : {"a", "1", "b", "l"}) {
    TagParts parts;
    SchemaWriting writing;
    writing.excludes = {excluded};
    const auto node = parts.embedded.Schema(parts.Value(GetParam().schema), writing);
    ASSERT_TRUE(node.ok()) << node.status();
    const GrammarIr ir = parts.GrammarOf(*node);
    IrRecognizer recognizer(ir);
    for (const std::string& value : StyleValues()) {
      const bool expected = validator.Validates(value, validator.Holds("")) &&
                            !HoldsText(validator.Value(value), excluded);
      EXPECT_EQ(recognizer.Accepts(value), expected) << value << " without " << excluded;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, ExcludedTest, testing::ValuesIn(StyleSchemas()),
                         [](const auto& test) { return test.param.name; });

TEST(EmbeddedGrammars, AnExcludedTextIsNotWrittenByEscapes) {
  TagParts parts;
  SchemaWriting writing;
  writing.excludes = {"ab"};
  const GrammarIr ir = parts.GrammarOf(*parts.embedded.Schema(parts.Value("true"), writing));
  IrRecognizer recognizer(ir);
  EXPECT_TRUE(recognizer.Accepts(R"("\u0061c")"));
  EXPECT_FALSE(recognizer.Accepts(R"("\u0061b")"));
  EXPECT_FALSE(recognizer.Accepts(R"(["x",{"\u0061\u0062":1}])"));
}

std::string PlaceOfSchema(absl::string_view json, const SchemaWriting& writing) {
  TagParts parts;
  const JsonValue schema = *parts.Value(json).Find("a~/")->Find("s");
  return ErrorPlace(parts.embedded.Schema(schema, writing).status());
}

TEST(EmbeddedGrammars, ErrorsAndRemarksStandInTheTagsText) {
  EXPECT_EQ(PlaceOfSchema(R"({"a~/":{"s":{"properties":{"x":{"type":"strin"}}}}})", {}),
            "/a~0~1/s/properties/x/type");
  EXPECT_EQ(PlaceOfSchema(R"({"a~/":{"s":{"type":"object","minProperties":1}}})",
                          InStyle(FindWrittenStyle("python"))),
            "/a~0~1/s");
  TagParts parts;
  const JsonValue both = parts.Value(R"([{"format":"no-such"},{"format":"no-such"},"("])");
  ASSERT_TRUE(parts.embedded.Schema(*both.Nth(0), {}).ok());
  ASSERT_TRUE(parts.embedded.Schema(*both.Nth(1), {}).ok());
  for (const Diagnostic& warning : parts.result.warnings)
    EXPECT_THAT(warning.place, testing::StartsWith("/0")) << warning.message;
  const absl::Status pattern = parts.embedded.Pattern(*both.Nth(2)).status();
  EXPECT_EQ(ErrorPlace(pattern), "/2");
  EXPECT_THAT(std::string(pattern.message()), testing::HasSubstr("1:1"));
}

TEST(EmbeddedGrammars, APatternIsTheWholeText) {
  TagParts parts;
  const GrammarIr ir = parts.GrammarOf(*parts.embedded.Pattern(parts.Value(R"("a|bc*")")));
  IrRecognizer recognizer(ir);
  for (const char* text : {"a", "b", "bcc"}) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const char* text : {"", "ab", "xa", "bcx"}) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

TEST(EmbeddedGrammars, RulesOfTwoGrammarsDoNotMix) {
  TagParts parts;
  const JsonValue both =
      parts.Value(R"(["root ::= x \"!\"\nx ::= \"a\"", "root ::= x\nx ::= \"b\""])");
  const absl::StatusOr<NodeId> first = parts.embedded.Rules(*both.Nth(0));
  const absl::StatusOr<NodeId> second = parts.embedded.Rules(*both.Nth(1));
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  const GrammarIr ir = parts.GrammarOf(parts.builder.Concat({*first, *second}));
  IrRecognizer recognizer(ir);
  EXPECT_TRUE(recognizer.Accepts("a!b"));
  for (const char* text : {"a!a", "b!b", "a!"}) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

TEST(EmbeddedGrammars, AnErrorInRulesIsAtTheirTextAndSaysTheLine) {
  TagParts parts;
  const JsonValue all = parts.Value(R"({"g":"root ::= \"a\"\nx ::= ("})");
  const absl::Status status = parts.embedded.Rules(*all.Find("g")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), "/g");
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("2:"));
}

}  // namespace
}  // namespace maskd
