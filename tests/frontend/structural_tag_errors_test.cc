// The kind structural_tag: errors at their places, and bounds.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/reading.h"
#include "tests/frontend/tag_texts.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

using testing::HasSubstr;

struct ErrorCase {
  const char* name;
  std::string text;
  const char* message;  // begins with its place
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class StructuralTagErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(StructuralTagErrorTest, IsAtItsPlace) {
  const absl::Status status = ReadForTest("structural_tag", GetParam().text).status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StructuralTagErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"NoObject", "[1]", "a structural tag is a JSON object"},
        {"NoFormat", R"({"type":"structural_tag"})", "/format: is missing"},
        {"OtherType", R"({"type":"x","format":{}})", "/type: must be \"structural_tag\""},
        {"UnknownKey", R"({"format":{"type":"any_text"},"x":1})",
         "/x: is not known here; known are type, format"},
        {"NoType", Whole("{}"), "/format/type: is missing"},
        {"UnknownType", Whole(R"({"type":"text"})"),
         "/format/type: there is no format \"text\"; known are const_string, json_schema, "},
        {"UnknownKeyOfAFormat", Whole(R"({"type":"any_text","exclude":[]})"),
         "/format/exclude: is not known here; known are type, excludes, max_tokens, max_chars"},
        {"NoValue", Whole(R"({"type":"const_string"})"), "/format/value: is missing"},
        {"EmptySequence", Whole(R"({"type":"sequence","elements":[]})"),
         "/format/elements: must not be empty"},
        {"EmptyOr", Whole(R"({"type":"or","elements":[]})"), "/format/elements: must not be empty"},
        {"NoContent", Whole(R"({"type":"star"})"), "/format/content: is missing"},
        {"MinAboveMax", Whole(R"({"type":"repeat","min":2,"max":1,"content":{"type":"any_text"}})"),
         "/format/max: 1 is less than min 2"},
        {"NegativeMin",
         Whole(R"({"type":"repeat","min":-1,"max":1,"content":{"type":"any_text"}})"),
         "/format/min: must be a number from 0"},
        {"OpenTagWithoutAnEnd", Whole(Tag(R"("<")", kAny, R"("")")),
         "/format/end: must not be empty: nothing else ends what is in the tag"},
        {"EmptyListOfEnds", Whole(Tag(R"("<")", Const("k"), "[]")),
         "/format/end: must not be empty"},
        {"TokenInAListOfEnds", Whole(Tag(R"("<")", Const("k"), R"([{"type":"token","token":1}])")),
         "/format/end/0: must be a string"},
        {"NoTriggers", Whole(Triggered("[]")), "/format/triggers: must not be empty"},
        {"EmptyTrigger", Whole(Triggered(R"(["<f",""])")),
         "/format/triggers/1: must be a string that is not empty"},
        {"TagWithoutATrigger", Whole(Triggered(R"(["<z"])")),
         "/format/tags/0/begin: begins with none of the triggers"},
        {"TagOfTwoTriggers", Whole(Triggered(R"(["<f","<f="])")),
         "/format/tags/0/begin: begins with more than one trigger: \"<f\" and \"<f=\""},
        {"TriggerWithoutATag", Whole(Triggered(R"(["<f","<g"])")),
         "/format/triggers/1: no tag begins with it"},
        {"NoTags", Whole(R"({"type":"triggered_tags","triggers":["<"],"tags":[]})"),
         "/format/tags: must not be empty"},
        {"NoTag",
         Whole(R"({"type":"triggered_tags","triggers":["<"],"tags":[{"type":"any_text"}]})"),
         "/format/tags/0/type: must be \"tag\""},
        {"NoSeparator", Whole(Separated("null")), "/format/separator: must be a string"},
        {"EmptyRules", Whole(Dispatch("[]")), "/format/rules: must not be empty"},
        {"NoPair", Whole(Dispatch(R"([["a"]])")), "/format/rules/0: must be a pair"},
        {"EmptyRule", Whole(Dispatch(R"([["",{"type":"any_text"}]])")),
         "/format/rules/0/0: must be a string that is not empty"},
        {"TokenOfAnotherTrigger", Whole(TokenTriggered("[61]")),
         "/format/tags/0/begin: is none of the trigger tokens"},
        {"NoToken", Whole(R"({"type":"token","token":true})"),
         "/format/token: must be the id or the text of a token"},
        {"UnknownStyle", Whole(Schema("true", R"(,"style":"nope")")),
         "/format/style: must be one of json, qwen_xml, "},
        {"SchemaOfNoType", Whole(Schema("1")),
         "/format/json_schema: a schema must be an object or a boolean"},
        {"SchemaInItsPlace",
         Whole(Tag(R"("<")", Schema(R"({"items":{"minItems":"x"}})"), R"(">")")),
         "/format/content/json_schema/items/minItems: "},
        {"SchemaThatNothingSatisfies",
         Whole(Schema(R"({"type":"array","minItems":2,"maxItems":1})")),
         "/format/json_schema/maxItems: 1 is less than minItems 2"},
        {"RemoteReference", Whole(Schema(R"({"$ref":"http://127.0.0.1:9/x"})")),
         "/format/json_schema/$ref: ", absl::StatusCode::kUnimplemented},
        {"NoWhiteSpace", Whole(Schema("true", R"(,"max_whitespace_cnt":0)")),
         "/format/max_whitespace_cnt: must be a number from 1"},
        {"PatternInItsPlace", Whole(R"({"type":"regex","pattern":"("})"), "/format/pattern: "},
        {"EmptyPattern", Whole(R"({"type":"regex","pattern":""})"),
         "/format/pattern: must not be empty"},
        {"RulesInTheirPlace", Whole(R"({"type":"grammar","grammar":"root ::= missing"})"),
         "/format/grammar: in the grammar here: 1:10: "},
        {"OlderWithoutTriggers", R"({"structures":[{"begin":"","schema":true,"end":""}]})",
         "/triggers: is missing"},
        {"OlderEmpty", R"({"structures":[],"triggers":["a"]})", "/structures: must not be empty"},
        {"OlderWithoutASchema", R"({"structures":[{"begin":"a","end":""}],"triggers":["a"]})",
         "/structures/0/schema: is missing"},
        {"BothForms", R"({"structures":[],"triggers":[],"format":{}})",
         "/format: is not known here; known are type, structures, triggers"},
        {"TooDeep",
         [] {
           std::string text;
           for (int i = 0; i < 300; ++i) text += R"({"type":"sequence","elements":[)";
           text += R"({"type":"any_text"})";
           for (int i = 0; i < 300; ++i) text += "]}";
           return Whole(text);
         }(),
         "1:", absl::StatusCode::kResourceExhausted},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StructuralTagVocabularyTest, KnowsTheTokens) {
  const auto message = [](absl::string_view format) {
    return std::string(CompileOverBytes("structural_tag", Whole(format)).status().message());
  };
  EXPECT_THAT(message(R"({"type":"token","token":"nosuch"})"),
              HasSubstr("/format/token: the vocabulary"));
  EXPECT_THAT(message(R"({"type":"token","token":99999})"), HasSubstr("/format/token: token ids"));
  EXPECT_THAT(message(R"({"type":"exclude_token","exclude_tokens":[99999]})"),
              HasSubstr("/format/exclude_tokens: token ids"));
}

TEST(StructuralTagLimitsTest, ThousandsOfTagsAreLinear) {
  const auto tags = [](int count) {
    std::string text = R"({"structures":[)";
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ",", R"({"begin":"<f=)", i,
                      R"(>","schema":{"type":"object","properties":{"a)", i,
                      R"(":{"type":"integer"}}},"end":"</f>"})");
    }
    return absl::StrCat(text, R"(],"triggers":["<f="]})");
  };
  const auto small = ReadForTest("structural_tag", tags(500));
  const auto large = ReadForTest("structural_tag", tags(2'000));
  ASSERT_TRUE(small.ok() && large.ok()) << small.status() << large.status();
  EXPECT_LT(large->ir.nodes.size(), small->ir.nodes.size() * 5);
}

TEST(StructuralTagLimitsTest, DeepFormatsDoNotRecurse) {
  Limits limits;
  limits.source_depth = 100'000;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += R"({"type":"optional","content":)";
  text += R"({"type":"const_string","value":"a"})";
  for (int i = 0; i < 20'000; ++i) text += "}";
  const auto read = ReadForTest("structural_tag", Whole(text), {}, limits);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.nodes.size(), 10);
}

}  // namespace
}  // namespace maskd
