// Arrays whose items are counted, held against the validator for every small array.
#include "grammar_core/frontend/json_schema/rules/array_states.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

class CountedArrayTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(CountedArrayTest, HasTheArraysThatAreValid) {
  RuleParts parts(GetParam().schema);
  const MergedSchema schema = parts.MergedRoot();
  ArrayStates states(schema, parts.context);
  EXPECT_TRUE(states.are_needed());
  const NodeId arrays = *states.Make();
  std::vector<std::string> valid;
  std::vector<std::string> accepted;
  const std::vector<std::string> all = SmallArrays();
  for (const std::string& array : all)
    if (parts.Validates(array, parts.Holds(""))) valid.push_back(array);
  const GrammarIr ir = parts.GrammarOf(arrays);
  IrRecognizer recognizer(ir);
  for (const std::string& array : all)
    if (recognizer.Accepts(array)) accepted.push_back(array);
  EXPECT_EQ(accepted, valid);
  EXPECT_LT(valid.size(), all.size());
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, CountedArrayTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Contains", R"({"type":"array","contains":{"const":1}})"},
        {"ExactlyTwo",
         R"({"type":"array","contains":{"type":"string"},"minContains":2,"maxContains":2})"},
        {"AtMostOne",
         R"({"type":"array","contains":{"minimum":1},"minContains":0,"maxContains":1})"},
        {"TwoCounters", R"({"type":"array","contains":{"const":1},
            "allOf":[{"contains":{"type":"integer"},"maxContains":2}]})"},
        {"NotContains", R"({"type":"array","not":{"contains":{"type":"null"}}})"},
        {"OutsideOfARange",
         R"({"type":"array","not":{"contains":{"const":1},"minContains":1,"maxContains":2}})"},
        {"SomeItemFails", R"({"type":"array","not":{"items":{"type":"string"}}})"},
        {"SomeLaterItemFails", R"({"type":"array","allOf":[{"prefixItems":[{"const":1}]}],
            "not":{"$ref":"#/$defs/x"},"$defs":{"x":{"items":{"type":"string"}}}})"},
        {"NotThisArray", R"({"type":"array","not":{"const":[1,"a"]}})"},
        {"NotTheseArrays", R"({"type":"array","not":{"enum":[[],[1],[1,1.0],["a",null,2],7]}})"},
        {"BesidePrefix", R"({"type":"array","prefixItems":[{"type":"string"}],"items":
            {"type":["integer","null"]},"contains":{"const":2},"maxItems":2})"},
        {"LeastItems", R"({"type":"array","contains":{"const":1},"minItems":2})"},
        {"LiftedByContains",
         R"({"type":"array","contains":{"type":"string"},"unevaluatedItems":{"const":1}})"},
        {"LiftedAnyNumber", R"({"type":"array","contains":{"type":"string"},"minContains":0,
            "prefixItems":[true],"unevaluatedItems":{"const":1}})"},
        {"SomeUnevaluatedFails", R"({"type":"array","not":{"prefixItems":[true],
            "unevaluatedItems":{"type":"integer"}}})"},
    }),
    [](const auto& test) { return test.param.name; });

struct NeedCase {
  const char* name;
  const char* schema;
  bool needed;
  bool one_at_most;
};

class NeedOfStatesTest : public testing::TestWithParam<NeedCase> {};

TEST_P(NeedOfStatesTest, IsOfCountersAndComparisons) {
  RuleParts parts(GetParam().schema);
  const MergedSchema schema = parts.MergedRoot();
  const ArrayStates states(schema, parts.context);
  EXPECT_EQ(states.are_needed(), GetParam().needed);
  EXPECT_EQ(states.needs_one_at_most(), GetParam().one_at_most);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, NeedOfStatesTest,
    testing::ValuesIn(std::vector<NeedCase>{
        {"Plain", R"({"items":{"minimum":1},"prefixItems":[true],"maxItems":9})", false, true},
        {"TwoItems", R"({"minItems":2})", false, false},
        {"ContainsAsksForNothing", R"({"contains":{"const":1},"minContains":0})", false, true},
        {"Unevaluated", R"({"prefixItems":[true],"unevaluatedItems":false})", false, true},
        {"Contains", R"({"contains":{"const":1}})", true, true},
        {"ContainsTwo", R"({"contains":{"const":1},"minContains":2})", true, false},
        {"ContainsBesideTwoItems", R"({"contains":{"const":1},"minItems":2})", true, false},
        {"NotContains", R"({"not":{"contains":{"const":1}}})", true, true},
        {"NotAtMostOne", R"({"not":{"contains":{"const":1},"minContains":0,"maxContains":1}})",
         true, false},
        {"NotAnArray", R"({"type":"array","not":{"const":[1]}})", true, false},
        {"NotAnotherValue", R"({"type":"array","not":{"const":1}})", false, true},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ArrayStates, ThereAreOnlySoMany) {
  RuleParts parts(R"({"type":"array","contains":{"const":1},"minContains":5001})");
  const MergedSchema schema = parts.MergedRoot();
  ArrayStates states(schema, parts.context);
  const absl::Status status = states.Make().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::string(status.message()).find("states of one array is 5000") !=
              std::string::npos)
      << status;
  static_assert(ArrayStates::kMaxStates == 5'000);
}

}  // namespace
}  // namespace maskd
