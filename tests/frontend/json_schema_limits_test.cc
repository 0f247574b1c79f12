// Large and hostile schemas end in an answer, without a deep stack and without square costs.
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/frontend/reading.h"

namespace maskd {
namespace {

std::string Repeated(absl::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, text);
  return out;
}

// `each(i)` for i from 0 to `count` - 1, with commas.
std::string Listed(int count, const std::function<std::string(int)>& each) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, i > 0 ? "," : "", each(i));
  return out;
}

TEST(JsonSchemaLimitsTest, DepthIsLimitedByName) {
  const std::string schema =
      Repeated("{\"type\":\"array\",\"items\":", 10'000) + "{}" + Repeated("}", 10'000);
  const absl::Status status = ReadForTest("json_schema", schema).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("source_depth"), absl::string_view::npos);
}

TEST(JsonSchemaLimitsTest, DeepNestingNeedsNoStack) {
  Limits limits;
  limits.source_depth = 1'000'000;
  for (const char* open : {"{\"type\":\"array\",\"items\":", "{\"additionalProperties\":"}) {
    const std::string schema = Repeated(open, 10'000) + "{}" + Repeated("}", 10'000);
    EXPECT_TRUE(ReadForTest("json_schema", schema, {}, limits).ok());
  }
  const std::string all_of = Repeated("{\"allOf\":[", 50'000) + "{}" + Repeated("]}", 50'000);
  EXPECT_TRUE(ReadForTest("json_schema", all_of, {}, limits).ok());
}

TEST(JsonSchemaLimitsTest, DeepLiteral) {
  const std::string literal = "{\"const\":" + Repeated("[", 500) + Repeated("]", 500) + "}";
  const auto read = ReadForTest("json_schema", literal);
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST(JsonSchemaLimitsTest, ChainOfReferences) {
  const std::string defs = Listed(50'000, [](int i) {
    return absl::StrCat("\"d", i, "\":{\"$ref\":\"#/$defs/d", i + 1, "\"}");
  });
  const auto read = ReadForTest("json_schema", "{\"$ref\":\"#/$defs/d0\",\"$defs\":{" + defs +
                                                   ",\"d50000\":{\"type\":\"null\"}}}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ir.rules.size(), 1u);
}

// Two objects that may hold the same value, each of the same fifteen kinds of items.
TEST(JsonSchemaLimitsTest, CopiesOfASchemaDoNotMultiply) {
  const auto items = [](absl::string_view title) {
    return absl::StrCat(
        "{\"type\":\"array\",\"items\":{\"oneOf\":[",
        Listed(15,
               [&](int i) {
                 return absl::StrCat(
                     "{\"title\":\"", title, "\",\"type\":\"object\",\"properties\":{",
                     Listed(8,
                            [&](int j) {
                              return absl::StrCat("\"p", j, "\":{\"maxLength\":", i + j,
                                                  ",\"description\":\"", title, "\"}");
                            }),
                     "},\"additionalProperties\":false,\"required\":[\"p0\"]}");
               }),
        "]}}");
  };
  const std::string schema =
      absl::StrCat("{\"oneOf\":[{\"properties\":{\"a\":", items("x"),
                   "}},{\"properties\":{\"a\":", items("y"), ",\"b\":{\"type\":\"null\"}}}]}");
  const auto read = ReadForTest("json_schema", schema);
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST(JsonSchemaLimitsTest, TwofoldReferencesDoNotMultiply) {
  const std::string defs = Listed(30, [](int i) {
    const std::string ref = absl::StrCat("{\"$ref\":\"#/$defs/d", i + 1, "\"}");
    return absl::StrCat("\"d", i, "\":{\"allOf\":[", ref, ",", ref, "],\"properties\":{\"a\":", ref,
                        ",\"b\":", ref, "}}");
  });
  const auto read = ReadForTest("json_schema", "{\"$ref\":\"#/$defs/d0\",\"$defs\":{" + defs +
                                                   ",\"d30\":{\"type\":\"object\"}}}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.rules.size(), 1'000u);
}

TEST(JsonSchemaLimitsTest, ManyProperties) {
  const std::string properties =
      Listed(50'000, [](int i) { return absl::StrCat("\"p", i, "\":{\"type\":\"integer\"}"); });
  const auto read =
      ReadForTest("json_schema", "{\"type\":\"object\",\"properties\":{" + properties + "}}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LE(read->ir.rules.size(), 2u);
}

TEST(JsonSchemaLimitsTest, ManyPrefixItems) {
  const std::string items =
      Listed(50'000, [](int i) { return absl::StrCat("{\"const\":", i, "}"); });
  for (const char* count : {"0", "50000"}) {
    const auto read =
        ReadForTest("json_schema", absl::StrCat("{\"type\":\"array\",\"prefixItems\":[", items,
                                                "],\"items\":false,\"minItems\":", count, "}"));
    EXPECT_TRUE(read.ok()) << read.status();
  }
}

TEST(JsonSchemaLimitsTest, LargeEnumIsFewNodes) {
  const std::string values =
      Listed(100'000, [](int i) { return absl::StrCat("\"value-", i, "\",", i); });
  const auto read = ReadForTest("json_schema", "{\"enum\":[" + values + "]}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.nodes.size(), 20u);
}

TEST(JsonSchemaLimitsTest, ProductOfAnyOfsIsLimited) {
  const std::string all = Listed(40, [](int i) {
    return absl::StrCat("{\"anyOf\":[{\"properties\":{\"a", i,
                        "\":{\"type\":\"null\"}}},{\"properties\":{\"b", i,
                        "\":{\"type\":\"null\"}}}]}");
  });
  const absl::Status status =
      ReadForTest("json_schema", "{\"type\":\"object\",\"allOf\":[" + all + "]}").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("schema_sets"), absl::string_view::npos) << status;
}

TEST(JsonSchemaLimitsTest, AlternativesOfRequiredAreNoProduct) {
  const std::string all = Listed(40, [](int i) {
    return absl::StrCat("{\"anyOf\":[{\"required\":[\"a", i, "\"]},{\"required\":[\"b", i,
                        "\"]}]}");
  });
  const auto read = ReadForTest("json_schema", "{\"type\":\"object\",\"allOf\":[" + all + "]}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.rules.size(), 4u);
}

TEST(JsonSchemaLimitsTest, OneOfManyConstantsIsOneSet) {
  const std::string branches =
      Listed(1'000, [](int i) { return absl::StrCat("{\"const\":\"v", i, "\"}"); });
  const auto read = ReadForTest("json_schema", "{\"oneOf\":[" + branches + "]}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.nodes.size(), 10u);
}

TEST(JsonSchemaLimitsTest, ManyBranchesThatListValuesAreOneSet) {
  const std::string branches =
      Listed(50'000, [](int i) { return absl::StrCat("{\"const\":\"v", i, "\"}"); });
  const auto read = ReadForTest("json_schema", "{\"anyOf\":[" + branches + "]}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.nodes.size(), 10u);
}

// Levels that each go on to the next one in two ways, with and without `more`: 2^14 at the last.
std::string TwoWaysALevel(const std::function<std::string(int)>& more) {
  constexpr int kLevels = 14;
  const std::string levels = Listed(kLevels, [&](int i) {
    const std::string next = absl::StrCat("\"$ref\":\"#/$defs/l", i + 1, "\"");
    return absl::StrCat("\"l", i, "\":{\"allOf\":[{", more(i), ",", next, "},{", next, "}]}");
  });
  return absl::StrCat("{\"$ref\":\"#/$defs/l0\",\"$defs\":{", levels, ",\"l", kLevels, "\":{}}}");
}

// Claims carry who watches them as a number into a table: it ends where the table does.
TEST(JsonSchemaLimitsTest, SchemasThatWatchAreLimitedByName) {
  const std::string schema = TwoWaysALevel(
      [](int i) { return absl::StrCat("\"unevaluatedProperties\":{\"maxLength\":", i, "}"); });
  const absl::Status status = ReadForTest("json_schema", schema).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("schemas with unevaluated keywords"), absl::string_view::npos)
      << status;
}

// The same of where $dynamicRef leads.
TEST(JsonSchemaLimitsTest, DynamicScopesAreLimitedByName) {
  constexpr int kLevels = 14;
  const std::string levels = Listed(kLevels, [&](int i) {
    const std::string next =
        absl::StrCat("\"$ref\":\"https://a.example/root#/$defs/l", i + 1, "\"");
    return absl::StrCat("\"l", i, "\":{\"allOf\":[{\"$ref\":\"https://a.example/r", i, "\"},{",
                        next, "}]},\"r", i, "\":{\"$id\":\"https://a.example/r", i,
                        "\",\"$dynamicAnchor\":\"d", i, "\",", next, "}");
  });
  const std::string schema = absl::StrCat(
      "{\"$id\":\"https://a.example/root\",\"$ref\":\"#/$defs/l0\",\"$defs\":{", levels, ",\"l",
      kLevels, "\":{\"properties\":{\"p\":{\"$dynamicRef\":\"https://a.example/r0#d0\"}}}}}");
  const absl::Status status = ReadForTest("json_schema", schema).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("dynamic scopes"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace maskd
