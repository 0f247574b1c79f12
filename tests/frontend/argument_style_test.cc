// Arguments written as literals: of Python and with quotes of a style's own, by texts that are
// taken and texts that are not, by the engine's masks and the slow recogniser. And elements whose
// style is said as an object.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

constexpr const char* kPython = R"("python")";
constexpr const char* kQuote = R"({"quote":"<q>"})";
constexpr const char* kNarrow = R"({"quote":"<q>","words":"json","names":"word"})";
constexpr const char* kElements = R"({"open":"<p n='","behind_name":"'>","close":"</p>"})";
constexpr const char* kPairs =
    R"({"open":"<k>","behind_name":"</k>","before_value":"<v>","close":"</v>"})";

constexpr const char* kCdata =
    R"({"open":"<p n='","behind_name":"'>","close":"</p>","cdata_begin":"<[","cdata_end":"]>"})";

struct StyleCase {
  const char* name;
  const char* style;
  const char* schema;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

std::string Source(const char* style, const char* schema) {
  return absl::StrCat(R"({"format":{"type":"json_schema","json_schema":)", schema, R"(,"style":)",
                      style, "}}");
}

class ArgumentStyleTest : public testing::TestWithParam<StyleCase> {};

TEST_P(ArgumentStyleTest, HoldsItsTexts) {
  const std::string source = Source(GetParam().style, GetParam().schema);
  SCOPED_TRACE(source);
  const auto read = ReadForTest("structural_tag", source);
  ASSERT_TRUE(read.ok()) << read.status();
  const auto compiled = CompileOverBytes("structural_tag", source);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto expect = [&](const std::string& text, bool expected) {
    EXPECT_EQ(IrRecognizer(read->ir).Accepts(text), expected) << text;
    const absl::StatusOr<bool> accepts = AcceptsByMasks(*compiled, text);
    ASSERT_TRUE(accepts.ok()) << accepts.status();
    EXPECT_EQ(*accepts, expected) << text;
  };
  for (const std::string& text : GetParam().accepts) expect(text, true);
  for (const std::string& text : GetParam().rejects) expect(text, false);
}

constexpr const char* kText = R"({"properties":{"s":{"type":"string"}},"required":["s"],
  "type":"object","additionalProperties":false})";
constexpr const char* kMixed = R"({"properties":{"a":{"type":"integer"},"b":{"type":"boolean"},
  "c":{"type":["null","string"]}},"required":["b"],"type":"object","additionalProperties":false})";
constexpr const char* kNested = R"({"properties":{"o":{"type":"object","properties":{
  "x":{"type":"number"},"y":{"type":"array","items":{"type":"string"}}},
  "additionalProperties":false}},"type":"object","additionalProperties":false})";
constexpr const char* kListed = R"({"properties":{"e":{"enum":["a","b'c",1,true,null]},
  "k":{"const":false}},"type":"object","additionalProperties":false})";
constexpr const char* kFree = R"({"type":"object","additionalProperties":{"type":"integer"}})";
constexpr const char* kAny = R"({"properties":{"v":{}},"required":["v"],"type":"object",
  "additionalProperties":false})";
constexpr const char* kDigits = R"({"properties":{"s":{"type":"string","pattern":"^[0-9'\"]*$"}},
  "required":["s"],"type":"object","additionalProperties":false})";

INSTANTIATE_TEST_SUITE_P(
    Python, ArgumentStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"Text",
         kPython,
         kText,
         {"s=\"\"", "s=''", "s='it\\'s'", "s='a \"b\"'", R"(s='a \"b\"\n')", R"(s="it's")",
          R"(s='\u0007')", "s='\xc3\xa9'"},
         {"s=a", "s='a", "s='a\"", "s='a'b'", "s='a\n'", "s = 'a'", "'a'", "s='a',", "s='\\d'",
          "s=1", "s='\xc3'"}},
        {"OptionalOnes",
         kPython,
         kMixed,
         {"b=True", "b=False", "b=true", "a=1, b=True", "a=-1,b=False, c=None", "b=True, c='x'",
          "b=True, c=null"},
         {"", "a=1", "b=True a=1", "b=True, a=1", ", b=True", "b=True,", "b=TRUE", "a=1.5, b=True",
          "b=True, c=none"}},
        {"Nested",
         kPython,
         kNested,
         {"", "o={}", "o={'x': 1.5}", R"(o={"x": 1e3, 'y': ["a", 'b']})", "o={'y': []}",
          "o={'x':1}"},
         {"o={x: 1}", "o={'x': 1,}", "o={'y': ['a' 'b']}", "o={'y': [1]}", "o={'x': 1",
          "o={'x\": 1}"}},
        {"Listed",
         kPython,
         kListed,
         {"e='a'", "e=\"a\"", "e=\"b'c\"", "e=1", "e=True, k=False", "e=None", "k=false"},
         {"e='b'", "e=False", "k=True", "e='1'", "e='b'c'"}},
        {"OtherNames", kPython, kFree, {"", "a=1", "a=1, b_2=2"}, {"a", "a b=1", "a=1 b=2", "=1"}},
        {"AnyValue",
         kPython,
         kAny,
         {"v=1", "v='a'", "v=[1, {'a': None}]", "v={}", "v=True"},
         {"v=", "v=[", "v=(1)"}},
        {"NotAnyText",
         kPython,
         kDigits,
         {"s='12'", "s=\"1'2\"", "s='1\"2'", R"(s='1\"2')", R"(s="1\"'2")"},
         {"s='a'", "s='\\n'", "s='1'2'"}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Quotes, ArgumentStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"Text",
         kQuote,
         kText,
         {"s:<q><q>", "s:<q>a \"b\" \n 'c' <b>{}<q>"},
         {"s:<q>a", "s:<q>a<q>b<q>", "s:\"a\"", "s: <q>a<q>"}},
        {"OptionalOnes",
         kQuote,
         kMixed,
         {"b:true", "a:1,b:false,c:null", "b:true,c:<q>x<q>", "b:True,c:None"},
         {"a:1", "b:true,", "b:true,a:1", "a:1, b:true"}},
        {"Nested",
         kQuote,
         kNested,
         {"o:{x:1.5,y:[<q>a<q>,<q>b<q>]}", "o:{}", ""},
         {"o:{'x':1}", "o:{x:1", "o:x:1"}},
        {"Listed", kQuote, kListed, {"e:<q>b'c<q>,k:false", "e:1"}, {"e:a", "k:true"}},
        {"JsonWords",
         kNarrow,
         kMixed,
         {"b:true", "b:false,c:null"},
         {"b:True", "b:False", "b:true,c:None"}},
        {"WordNames", kNarrow, kFree, {"", "a_1:2,B:3"}, {"a-1:2", "\u00e9:1", ":1"}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Elements, ArgumentStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"Text", kElements, kText, {"<p n='s'>a \"b\"</p>", "<p n='s'></p>"}, {"<p n='s'>a"}},
        {"Mixed",
         kElements,
         kMixed,
         {"<p n='b'>true</p>", "<p n='a'>1</p>\n<p n='b'>false</p><p n='c'>x</p>"},
         {"<p n='b'>True</p>", "<p n='a'>1</p>"}},
        {"Pairs", kPairs, kText, {"<k>s</k><v>a</v>", "<k>s</k>\n<v></v>"}, {"<k>s</k>a</v>"}},
        {"CdataOfText",
         kCdata,
         kText,
         {"<p n='s'>a<b</p>", "<p n='s'><[a</p>]]></p>", "<p n='s'><[]></p>",
          "<p n='s'> <[a]></p>"},
         {"<p n='s'><[a</p>", "<p n='s'><[a]></p>]></p>", "<p n='s'><[a]>b</p>"}},
        {"CdataOfDigits",
         kCdata,
         kDigits,
         {"<p n='s'>1'</p>", "<p n='s'><[1']></p>"},
         {"<p n='s'><[a]></p>", "<p n='s'> <[1]></p>", "<p n='s'><[1]> </p>"}},
        {"CdataOfListed",
         kCdata,
         kListed,
         {"<p n='e'>b'c</p>", "<p n='e'><[b'c]></p>", "<p n='e'>1</p>"},
         {"<p n='e'><[1]></p>", "<p n='k'><[false]></p>"}},
        {"CdataOfAny",
         kCdata,
         kAny,
         {"<p n='v'><[1]></p>", "<p n='v'>1</p>"},
         {"<p n='v'><[1</p>"}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

struct ErrorCase {
  const char* name;
  const char* style;
  const char* schema;
  absl::StatusCode code;
  const char* message;
};

class ArgumentStyleErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ArgumentStyleErrorTest, IsSaid) {
  const absl::Status status =
      ReadForTest("structural_tag", Source(GetParam().style, GetParam().schema)).status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith(GetParam().message));
}

constexpr auto kUnsupported = absl::StatusCode::kUnimplemented;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Styles, ArgumentStyleErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"AName", kPython, R"({"type":"object","properties":{"a b":{}}})", kUnsupported,
         "/format/json_schema: a name that needs quotes or escapes"},
        {"ANameOfMoreThanAWord", kNarrow, R"({"type":"object","properties":{"a-b":{}}})",
         kUnsupported, "/format/json_schema: a name of more than letters, digits and _"},
        {"NoObject", kPython, R"({"type":"integer"})", kUnsupported,
         "/format/json_schema: a value that is no object"},
        {"Counts", kPython, R"({"type":"object","minProperties":1})", kUnsupported,
         "/format/json_schema: counts and conditions of members"},
        {"AGivenList", kQuote, R"({"type":"object","properties":{"a":{"const":[[]]}}})",
         kUnsupported, "/format/json_schema: "},
        {"NoQuote", R"({"quote":""})", "{}", kInvalid, "/format/style/quote: must not be empty"},
        {"HalfCdata", R"({"open":"<","behind_name":">","close":"</","cdata_begin":"["})", "{}",
         kInvalid, "/format/style: cdata_begin and cdata_end must be said together"},
        {"CdataBesidePad",
         R"({"open":"<","behind_name":">","close":"</","cdata_begin":"[","cdata_end":"]","pad":" "})",
         "{}", kInvalid, "/format/style/pad: is not supported beside cdata_begin"},
        {"NoClose", R"({"open":"<","behind_name":">"})", "{}", kInvalid,
         "/format/style/close: is missing"},
        {"AnotherKey", R"({"open":"<","x":1})", "{}", kInvalid,
         "/format/style/x: is not known here"},
        {"AnotherName", R"("yaml")", "{}", kInvalid, "/format/style: must be one of json, "},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
