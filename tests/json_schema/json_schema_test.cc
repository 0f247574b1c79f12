// The ways into the front end, judged by the slow recogniser on the IR as it is made.
#include "grammar_core/frontend/json_schema/json_schema.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/grammar_ir.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

GrammarSource Source(absl::string_view text, absl::string_view kind = "json_schema") {
  return {std::string(kind), std::string(text)};
}

using Reader = absl::StatusOr<ReadResult> (*)(const GrammarSource&, const Limits&, Budget&);

absl::StatusOr<ReadResult> Read(const GrammarSource& source, Reader reader = &ReadJsonSchema) {
  Budget budget = Budget::Unlimited();
  return reader(source, Limits(), budget);
}

// Where each of `texts` is in the language, a 1, else a 0.
std::string Verdicts(const absl::StatusOr<ReadResult>& read,
                     const std::vector<std::string>& texts) {
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return "";
  IrRecognizer recognizer(read->ir);
  std::string verdicts;
  for (const std::string& text : texts) verdicts += recognizer.Accepts(text) ? '1' : '0';
  return verdicts;
}

constexpr const char* kSchema =
    R"({"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,"b"]}}},
        "required":["a"],"additionalProperties":false,"x-y":1})";
const std::vector<std::string> kTexts = {R"({"a":[]})", R"({"a":[1,"b"]})", R"({ "a" : [ 1 ] })",
                                         "{}",          R"({"a":[2]})",     R"({"a":[],"b":1})",
                                         "[]"};

TEST(ReadJsonSchemaTest, AParsedTextMakesWhatTheTextMakes) {
  const GrammarSource source = Source(kSchema);
  const absl::StatusOr<ReadResult> read = Read(source);
  EXPECT_EQ(Verdicts(read, kTexts), "1110000");
  Budget budget = Budget::Unlimited();
  // The text of `source` says nothing then.
  const absl::StatusOr<ReadResult> parsed =
      ReadJsonSchema(*JsonDocument::Parse(kSchema, Limits()), Source("no JSON"), Limits(), budget);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(PrintIr(parsed->ir), PrintIr(read->ir));
  for (const ReadResult& result : {*read, *parsed}) {
    ASSERT_EQ(result.warnings.size(), 1);
    EXPECT_EQ(result.warnings[0].place, "/x-y");
  }
}

// The language is the same, and each inner value has a rule to be read.
TEST(ReadJsonSchemaTest, InnerValuesMayBeRules) {
  Budget budget = Budget::Unlimited();
  const auto rules = ReadJsonSchema(Source(kSchema), Limits(), budget, SchemaValues::kRules);
  EXPECT_EQ(Verdicts(rules, kTexts), "1110000");
  const auto as_ever = ReadJsonSchema(Source(kSchema), Limits(), budget, SchemaValues::kInline);
  ASSERT_TRUE(as_ever.ok()) << as_ever.status();
  EXPECT_EQ(PrintIr(as_ever->ir), PrintIr(Read(Source(kSchema))->ir));
  std::vector<std::string> places;
  for (const IrRule& rule : rules->ir.rules) places.push_back(rule.place);
  for (const char* place : {"/properties/a", "/properties/a/items"})
    EXPECT_NE(std::find(places.begin(), places.end(), place), places.end()) << place;
  EXPECT_GT(rules->ir.rules.size(), as_ever->ir.rules.size());
}

struct DraftCase {
  const char* name;
  std::string schema;
  std::string verdicts;  // of 1, 1.0, 2
};

class DraftTest : public testing::TestWithParam<DraftCase> {};

// What drafts differ in.
TEST_P(DraftTest, IsToldBySchema) {
  EXPECT_EQ(Verdicts(Read(Source(GetParam().schema)), {"1", "1.0", "2"}), GetParam().verdicts);
}

const std::string k4 = R"({"$schema":"http://json-schema.org/draft-04/schema#",)";
const std::string k7 = R"({"$schema":"http://json-schema.org/draft-07/schema#",)";
const std::string k2019 = R"({"$schema":"https://json-schema.org/draft/2019-09/schema",)";

INSTANTIATE_TEST_SUITE_P(
    Schemas, DraftTest,
    testing::ValuesIn(std::vector<DraftCase>{
        {"IntegersOf4", k4 + R"("type":"integer"})", "101"},
        {"IntegersOf7", k7 + R"("type":"integer"})", "111"},
        {"ConstIn4", k4 + R"("const":1})", "111"},
        {"ConstIn7", k7 + R"("const":1})", "110"},
        {"ExclusiveIn4", k4 + R"("minimum":1,"exclusiveMinimum":true})", "001"},
        {"BesideRefIn7", k7 + R"("$ref":"#/definitions/a","const":1,"definitions":{"a":{}}})",
         "111"},
        {"BesideRefIn2019", k2019 + R"("$ref":"#/definitions/a","const":1,"definitions":{"a":{}}})",
         "110"},
        {"UnnamedIs2020", R"({"$dynamicRef":"#/$defs/a","$defs":{"a":{"const":1}}})", "110"},
        {"ADraftWithinAnother",
         k2019 +
             R"("allOf":[{"$id":"http://x.example/a",
             "$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}]})",
         "101"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ReadJsonSchemaTest, ReferencesMayLeadToDocumentsGiven) {
  GrammarSource source = Source(R"({"$ref":"http://x.example/a"})");
  source.documents = {{"http://x.example/a", R"({"const":1})"}};
  EXPECT_EQ(Verdicts(Read(source), {"1", "2"}), "10");
  source.documents = {};
  const absl::Status status = Read(source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(status), "/$ref");
}

struct ErrorCase {
  const char* name;
  const char* schema;
  absl::StatusCode code;
  const char* place;
};

class ReadErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ReadErrorTest, HasItsPlace) {
  const absl::Status status = Read(Source(GetParam().schema)).status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(Schemas, ReadErrorTest,
                         testing::ValuesIn(std::vector<ErrorCase>{
                             {"NoJson", "{\n 7}", absl::StatusCode::kInvalidArgument, "2:2"},
                             {"NoSchema", "[]", absl::StatusCode::kInvalidArgument, ""},
                             {"Dialect", R"({"$schema":[]})", absl::StatusCode::kInvalidArgument,
                              "/$schema"},
                             {"Shape", R"({"items":{"minItems":-1}})",
                              absl::StatusCode::kInvalidArgument, "/items/minItems"},
                             {"NotSupported", R"({"properties":{"a":{"pattern":"(x)\\1"}}})",
                              absl::StatusCode::kUnimplemented, "/properties/a/pattern"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(ReadJsonSchemaTest, ABudgetThatEndsIsAnError) {
  std::string schema = R"({"prefixItems":[{"minLength":1})";
  for (int i = 2; i < 3'000; ++i) schema += R"(,{"minLength":)" + std::to_string(i) + "}";
  Budget budget(Budget::Bounds{.work = 1'000});
  EXPECT_EQ(ReadJsonSchema(Source(schema + "]}"), Limits(), budget).status().code(),
            absl::StatusCode::kResourceExhausted);
}

const std::vector<std::string> kValues = {"{}",
                                          R"({"a":{"b":[1e5,null]}})",
                                          R"({ "a" : 1 , "\u0062" : "\n" })",
                                          "[]",
                                          "1",
                                          R"("")",
                                          "null",
                                          "{",
                                          R"({"a":1,})",
                                          "{a:1}",
                                          "01",
                                          ""};

TEST(ReadAnyJsonTest, AreTheObjectsAndAllValues) {
  EXPECT_EQ(Verdicts(Read(Source("", "json_object"), &ReadAnyJsonObject), kValues), "111000000000");
  EXPECT_EQ(Verdicts(Read(Source("", "json"), &ReadAnyJson), kValues), "111111100000");
}

TEST(ReadAnyJsonTest, ClosedObjectsAreNotMeant) {
  GrammarSource source = Source("", "json_object");
  source.options.additional_properties = false;
  EXPECT_EQ(Verdicts(Read(source, &ReadAnyJsonObject), {R"({"a":1})"}), "1");
}

TEST(ReadAnyJsonTest, TakeNoText) {
  for (const Reader reader : {Reader(&ReadAnyJsonObject), Reader(&ReadAnyJson)}) {
    EXPECT_EQ(Read(Source("{}", "json"), reader).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(Read(Source(" \t\r\n", "json"), reader).ok());
  }
}

}  // namespace
}  // namespace maskd
