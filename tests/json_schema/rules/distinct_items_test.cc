// Arrays of items that must differ, held against the validator for every small array.
#include "grammar_core/frontend/json_schema/rules/distinct_items.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

absl::StatusOr<NodeId> MakeDistinct(RuleParts& parts) {
  const MergedSchema schema = parts.MergedRoot();
  return DistinctItems(schema, parts.At("/uniqueItems"), parts.context).Make();
}

class DistinctItemsTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(DistinctItemsTest, HasTheArraysThatAreValid) {
  RuleParts parts(GetParam().schema);
  const NodeId arrays = *MakeDistinct(parts);
  std::vector<std::string> valid;
  std::vector<std::string> accepted;
  for (const std::string& array : SmallArrays())
    if (parts.Validates(array, parts.Holds(""))) valid.push_back(array);
  const GrammarIr ir = parts.GrammarOf(arrays);
  IrRecognizer recognizer(ir);
  for (const std::string& array : SmallArrays())
    if (recognizer.Accepts(array)) accepted.push_back(array);
  EXPECT_EQ(accepted, valid);
  EXPECT_GT(valid.size(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, DistinctItemsTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Listed", R"({"type":"array","uniqueItems":true,"items":{"enum":[1,"a",[1],null]}})"},
        {"ListedTwice",
         R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":[1,"a"]},{"const":1.0},
             {"enum":["b","a"]}]}})"},
        {"ListedAndFitting", R"({"type":"array","uniqueItems":true,
            "items":{"enum":[1,2,"a","b"],"minimum":2,"not":{"const":"a"}}})"},
        {"Words", R"({"type":"array","uniqueItems":true,"items":{"type":["null","boolean"]}})"},
        {"Strings", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})"},
        {"StringsAndWords",
         R"({"type":"array","uniqueItems":true,"items":{"type":["string","null"]}})"},
        {"StringsThatFit", R"({"type":"array","uniqueItems":true,
            "items":{"type":"string","not":{"const":"a"}}})"},
        {"StringsAndListed", R"({"type":"array","uniqueItems":true,
            "items":{"anyOf":[{"type":"string"},{"enum":[1,2]}]}})"},
        {"Counted", R"({"type":"array","uniqueItems":true,"minItems":1,"maxItems":2,
            "items":{"enum":[1,2,"a"]}})"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(DistinctItems, SpellingsOfOneStringAreOneItem) {
  RuleParts parts(R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
  const NodeId arrays = *MakeDistinct(parts);
  const GrammarIr ir = parts.GrammarOf(arrays);
  IrRecognizer recognizer(ir);
  EXPECT_TRUE(recognizer.Accepts(R"(["a","\u0062"])"));
  EXPECT_FALSE(recognizer.Accepts(R"(["a","\u0061"])"));
}

TEST(DistinctItems, FewerValuesThanItemsAreNoArray) {
  RuleParts fits(R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"enum":[1,2,1.0]}})");
  EXPECT_TRUE(MakeDistinct(fits).ok());
  RuleParts parts(R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":[1,2,1.0]}})");
  const absl::Status status = MakeDistinct(parts).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), "/uniqueItems");
}

class OtherItemsTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(OtherItemsTest, AreNotSupportedHere) {
  RuleParts parts(GetParam().schema);
  const absl::Status status = MakeDistinct(parts).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(status), "/uniqueItems");
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, OtherItemsTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Anything", R"({"uniqueItems":true})"},
        {"Numbers", R"({"uniqueItems":true,"items":{"type":"integer"}})"},
        {"Objects", R"({"uniqueItems":true,"items":{"type":["string","object"]}})"},
        {"Arrays", R"({"uniqueItems":true,"items":{"anyOf":[{"const":1},{"type":"array"}]}})"},
        {"Prefix", R"({"uniqueItems":true,"prefixItems":[{"const":1}],"items":{"const":2}})"},
        {"FewStrings", R"({"uniqueItems":true,"items":{"type":"string","pattern":"^[ab]?$"}})"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
