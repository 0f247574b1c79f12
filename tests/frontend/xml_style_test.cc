// Arguments written as elements: every style by texts that it takes and texts that it does not, by
// the engine's masks and the slow recogniser. The forms are those of the models' chat templates, as
// xgrammar 0.2.8 has them under the same names.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

struct StyleCase {
  const char* name;
  const char* style;
  // Of properties, all required, in which others are not allowed.
  const char* properties;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
  const char* more = "";  // beside "style"
};

std::string Source(const StyleCase& one) {
  std::string required;
  bool key = true;
  int depth = 0;
  // The names at the top: strings before a colon at depth 0.
  for (const char* at = one.properties; *at != '\0'; ++at) {
    if (*at == '{') ++depth;
    if (*at == '}') --depth;
    if (depth > 0 || *at == '}') continue;
    if (*at == ',') key = true;
    if (*at == ':') key = false;
    if (key) required += *at;
  }
  return absl::StrCat(
      R"({"type":"structural_tag","format":{"type":"json_schema","json_schema":{"type":"object","properties":{)",
      one.properties, R"(},"required":[)", required, R"(],"additionalProperties":false},"style":")",
      one.style, "\"", one.more, "}}");
}

class XmlStyleTest : public testing::TestWithParam<StyleCase> {};

TEST_P(XmlStyleTest, HoldsItsTexts) {
  const std::string source = Source(GetParam());
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

std::string Name(const testing::TestParamInfo<StyleCase>& test) { return test.param.name; }

constexpr const char* kText = R"("s":{"type":"string"})";
constexpr const char* kCount = R"("n":{"type":"integer"})";
constexpr const char* kBoth = R"("s":{"type":"string"},"n":{"type":"integer"})";

INSTANTIATE_TEST_SUITE_P(
    Qwen, XmlStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"String",
         "qwen_xml",
         kText,
         {"<parameter=s>Bob</parameter>", "<parameter=s></parameter>",
          "<parameter=s>a<b</parameter>", "<parameter=s>\na\n</parameter>",
          "\n<parameter=s>\"x\"</parameter>\n\n", "<parameter=s></parameter</parameter>"},
         {"", "<parameter=n>Bob</parameter>", "<parameter=s>a</parameter>b</parameter>"}},
        {"Number",
         "qwen_xml",
         kCount,
         {"<parameter=n>3</parameter>", "<parameter=n>\n-3\n</parameter>"},
         {"<parameter=n>x</parameter>", "<parameter=n>\"3\"</parameter>"}},
        {"Enum",
         "qwen_xml",
         R"("e":{"enum":["x","y",1]})",
         {"<parameter=e>x</parameter>", "<parameter=e>\ny\n</parameter>",
          "<parameter=e>1</parameter>"},
         {"<parameter=e>\"x\"</parameter>", "<parameter=e>z</parameter>"}},
        {"EnumWithTheEnd",
         "qwen_xml",
         R"("e":{"enum":["x","a</parameter>b"]})",
         {"<parameter=e>x</parameter>"},
         {"<parameter=e>a</parameter>b</parameter>"}},
        {"JsonWithTheEnd",
         "qwen_xml",
         R"("a":{"type":["array","string"],"items":{"type":"string"}})",
         {"<parameter=a>[\"</parameter\", \"b\"]</parameter>"},
         {"<parameter=a>[\"</parameter>b\"]</parameter>"}},
        {"Const",
         "qwen_xml",
         R"("e":{"const":""})",
         {"<parameter=e></parameter>"},
         {"<parameter=e>\"\"</parameter>"}},
        {"Pattern",
         "qwen_xml",
         R"("p":{"type":"string","pattern":"^a+$"})",
         {"<parameter=p>aa</parameter>", "<parameter=p>\na\n</parameter>"},
         {"<parameter=p>b</parameter>"}},
        {"Length",
         "qwen_xml",
         R"("p":{"type":"string","minLength":2,"maxLength":3})",
         {"<parameter=p>ab</parameter>"},
         {"<parameter=p>abcd</parameter>"}},
        {"Array",
         "qwen_xml",
         R"("a":{"type":"array","items":{"type":"integer"}})",
         {"<parameter=a>[1, 2]</parameter>", "<parameter=a>\n[]</parameter>"},
         {"<parameter=a>[\"x\"]</parameter>", "<parameter=a>1</parameter>"}},
        {"Object",
         "qwen_xml",
         R"("o":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"additionalProperties":false})",
         {"<parameter=o>{\"k\":\"v\"}</parameter>"},
         {"<parameter=o>{\"k\":v}</parameter>",
          "<parameter=o><parameter=k>v</parameter></parameter>"}},
        {"Choice",
         "qwen_xml",
         R"("m":{"anyOf":[{"type":"boolean"},{"type":"null"}]})",
         {"<parameter=m>true</parameter>", "<parameter=m>null</parameter>"},
         {"<parameter=m>x</parameter>"}},
        {"Order",
         "qwen_xml",
         kBoth,
         {"<parameter=s>a</parameter><parameter=n>1</parameter>",
          "<parameter=s>a</parameter> \n<parameter=n>1</parameter>"},
         {"<parameter=n>1</parameter><parameter=s>a</parameter>", "<parameter=s>a</parameter>"}},
        {"AnyOrder",
         "qwen_xml",
         kBoth,
         {"<parameter=s>a</parameter><parameter=n>1</parameter>",
          "<parameter=n>1</parameter><parameter=s>a</parameter>"},
         {"<parameter=s>a</parameter>",
          "<parameter=n>1</parameter><parameter=n>1</parameter><parameter=s>a</parameter>"},
         R"(,"any_order":true)"},
        {"WhiteSpace",
         "qwen_xml",
         kCount,
         {" <parameter=n> 3</parameter>"},
         {"  <parameter=n>3</parameter>", "<parameter=n>  3</parameter>"},
         R"(,"max_whitespace_cnt":1)"},
        {"Excludes",
         "qwen_xml",
         kText,
         {"<parameter=s>fo</parameter>"},
         {"<parameter=s>foo</parameter>"},
         R"(,"excludes":["foo"])"},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Others, XmlStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"Minimax",
         "minimax_xml",
         kBoth,
         {R"(<parameter name="s">a</parameter><parameter name="n">1</parameter>)"},
         {R"(<parameter name="s">a</parameter><parameter name="n">x</parameter>)"}},
        {"MinimaxM3",
         "minimax_m3_xml",
         kBoth,
         {"]<]minimax[>[<s>a]<]minimax[>[</s>]<]minimax[>[<n>1]<]minimax[>[</n>"},
         {"]<]minimax[>[<s>a]<]minimax[>[</n>", "]<]minimax[>[<s>]<]minimax[>[</s>"}},
        {"Deepseek",
         "deepseek_xml",
         kBoth,
         {"<｜DSML｜parameter name=\"s\" string=\"true\">a</｜DSML｜parameter>"
          "<｜DSML｜parameter name=\"n\" string=\"false\"> 1 </｜DSML｜parameter>"},
         {"<｜DSML｜parameter name=\"s\" string=\"false\">a</｜DSML｜parameter>"
          "<｜DSML｜parameter name=\"n\" string=\"false\">1</｜DSML｜parameter>"}},
        {"DeepseekV41",
         "deepseek_v4_1_xml",
         kCount,
         {"<｜DSML｜ parameter name=\"n\" string=\"false\">1</｜DSML｜ parameter>"},
         {"<｜DSML｜parameter name=\"n\" string=\"false\">1</｜DSML｜parameter>"}},
        {"Glm",
         "glm_xml",
         kBoth,
         {"<arg_key>s</arg_key><arg_value>a</arg_value><arg_key>n</arg_key>\n<arg_value>1</"
          "arg_value>"},
         {"<arg_key>s</arg_key><arg_value>a</arg_value>"}},
        {"Cohere",
         "cohere_xml",
         kBoth,
         {R"(<cofl:value name="s" type="raw">a</cofl:value><cofl:value name="n" type="json">1</cofl:value>)"},
         {R"(<cofl:value name="s" type="json">"a"</cofl:value><cofl:value name="n" type="json">1</cofl:value>)"}},
        {"CohereEscapes",
         "cohere_xml",
         R"("a&b":{"type":"integer"})",
         {R"(<cofl:value name="a&amp;b" type="json">1</cofl:value>)"},
         {R"(<cofl:value name="a&b" type="json">1</cofl:value>)"}},
        {"Kimi",
         "kimi_k3_xml",
         kBoth,
         {R"(<|open|>argument key="s" type="string"<|sep|>a<|close|>argument<|sep|><|open|>argument key="n" type="number"<|sep|>1<|close|>argument<|sep|>)"},
         {R"(<|open|>argument key="s" type="number"<|sep|>a<|close|>argument<|sep|>)"}},
        {"KimiTypes",
         "kimi_k3_xml",
         R"("m":{"type":["boolean","null","array","string"]})",
         {R"(<|open|>argument key="m" type="boolean"<|sep|>true<|close|>argument<|sep|>)",
          R"(<|open|>argument key="m" type="null"<|sep|>null<|close|>argument<|sep|>)",
          R"(<|open|>argument key="m" type="array"<|sep|>[1]<|close|>argument<|sep|>)",
          R"(<|open|>argument key="m" type="string"<|sep|>x<|close|>argument<|sep|>)"},
         {R"(<|open|>argument key="m" type="null"<|sep|>true<|close|>argument<|sep|>)"}},
        {"KimiListedTypes",
         "kimi_k3_xml",
         R"("m":{"enum":[true,null]})",
         {R"(<|open|>argument key="m" type="boolean"<|sep|>true<|close|>argument<|sep|>)",
          R"(<|open|>argument key="m" type="null"<|sep|>null<|close|>argument<|sep|>)"},
         {R"(<|open|>argument key="m" type="null"<|sep|>true<|close|>argument<|sep|>)"}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Nested, XmlStyleTest,
    testing::ValuesIn(std::vector<StyleCase>{
        {"CohereList",
         "cohere_xml",
         R"("a":{"type":"array","items":{"type":"integer"}})",
         {R"(<cofl:value name="a" type="list"><cofl:value type="json">1</cofl:value><cofl:value type="json">2</cofl:value></cofl:value>)",
          R"(<cofl:value name="a" type="list"></cofl:value>)"},
         {R"(<cofl:value name="a" type="json">[1]</cofl:value>)",
          R"(<cofl:value name="a" type="list">[1]</cofl:value>)",
          R"(<cofl:value name="a" type="list"><cofl:value type="raw">x</cofl:value></cofl:value>)"}},
        {"CohereCounts",
         "cohere_xml",
         R"("a":{"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"string"},"minItems":1,"maxItems":2})",
         {R"(<cofl:value name="a" type="list"><cofl:value type="json">null</cofl:value></cofl:value>)",
          R"(<cofl:value name="a" type="list"><cofl:value type="json">null</cofl:value><cofl:value type="raw">x</cofl:value></cofl:value>)"},
         {R"(<cofl:value name="a" type="list"></cofl:value>)",
          R"(<cofl:value name="a" type="list"><cofl:value type="raw">x</cofl:value></cofl:value>)"}},
        {"CohereDict",
         "cohere_xml",
         R"("o":{"type":"object","properties":{"k":{"type":"string"},"l":{"type":"array","items":{"type":"null"}}},"required":["k"],"additionalProperties":false})",
         {R"(<cofl:value name="o" type="dict"><cofl:value name="k" type="raw">v</cofl:value></cofl:value>)",
          R"(<cofl:value name="o" type="dict"><cofl:value name="k" type="raw">v</cofl:value><cofl:value name="l" type="list"><cofl:value type="json">null</cofl:value></cofl:value></cofl:value>)"},
         {R"(<cofl:value name="o" type="dict"></cofl:value>)",
          R"(<cofl:value name="o" type="json">{"k":"v"}</cofl:value>)"}},
        {"CohereAnything",
         "cohere_xml",
         R"("x":true)",
         {R"(<cofl:value name="x" type="raw">v</cofl:value>)",
          R"(<cofl:value name="x" type="json">true</cofl:value>)",
          R"(<cofl:value name="x" type="list"><cofl:value type="dict"><cofl:value name="y" type="json">1</cofl:value></cofl:value></cofl:value>)"},
         {R"(<cofl:value name="x" type="list">1</cofl:value>)",
          R"(<cofl:value name="x" type="dict"><cofl:value type="json">1</cofl:value></cofl:value>)"}},
        {"MinimaxM3List",
         "minimax_m3_xml",
         R"("a":{"type":"array","items":{"type":"integer"}})",
         {"]<]minimax[>[<a>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[</a>",
          "]<]minimax[>[<a>]<]minimax[>[</a>"},
         {"]<]minimax[>[<a>[1]]<]minimax[>[</a>"}},
        {"MinimaxM3Object",
         "minimax_m3_xml",
         R"("o":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"additionalProperties":false})",
         {"]<]minimax[>[<o>]<]minimax[>[<k>v]<]minimax[>[</k>]<]minimax[>[</o>"},
         {"]<]minimax[>[<o>]<]minimax[>[</o>"}},
        {"JsonInOthers",
         "kimi_k3_xml",
         R"("a":{"type":"array","items":{"type":"integer"}})",
         {R"(<|open|>argument key="a" type="array"<|sep|>[1]<|close|>argument<|sep|>)"},
         {R"(<|open|>argument key="a" type="array"<|sep|>["x"]<|close|>argument<|sep|>)"}},
    }),
    Name);

TEST(XmlStyleOthersTest, OtherNamesComeBehind) {
  const auto compiled = CompileOverBytes(
      "structural_tag",
      R"({"format":{"type":"qwen_xml_parameter","json_schema":{"properties":{"a":{"type":"null"}},"additionalProperties":{"type":"integer"}}}})");
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const char* text : {"", "<parameter=b>1</parameter>",
                           "<parameter=a>null</parameter><parameter=b>1</parameter>"}) {
    EXPECT_TRUE(*AcceptsByMasks(*compiled, text)) << text;
  }
  for (const char* text : {"<parameter=b>x</parameter>", "<parameter=a>1</parameter>", "{}",
                           "<parameter=b>1</parameter><parameter=a>null</parameter>"}) {
    EXPECT_FALSE(*AcceptsByMasks(*compiled, text)) << text;
  }
}

// JSON within an element begins at no level; where arrays and objects are elements there is none.
TEST(XmlStyleIndentTest, IsThatOfTheJsonWithin) {
  GrammarOptions options;
  options.indent = 1;
  const auto expect = [&](const char* style, const char* text, bool taken) {
    const StyleCase one = {"", style, R"("a":{"type":"array","items":{"type":"null"}})", {}, {}};
    const auto compiled = CompileOverBytes("structural_tag", Source(one), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(*AcceptsByMasks(*compiled, text), taken) << style << ": " << text;
  };
  expect("qwen_xml", "<parameter=a>[\n null,\n null\n]</parameter>", true);
  expect("qwen_xml", "<parameter=a>\n[]\n</parameter>", true);
  expect("qwen_xml", "<parameter=a>[null]</parameter>", false);
  expect("qwen_xml", "<parameter=a>[\n  null\n ]</parameter>", false);
  const std::string item = "]<]minimax[>[<item>null]<]minimax[>[</item>";
  const std::string element = absl::StrCat("]<]minimax[>[<a>", item, item, "]<]minimax[>[</a>");
  expect("minimax_m3_xml", element.c_str(), true);
}

// As SGLang's tag for Kimi K3 asks for it.
TEST(XmlStyleTest, WritesAValueThatIsNoObjectAsItIs) {
  const auto takes = [](const char* schema, const char* text) {
    const auto compiled = CompileOverBytes(
        "structural_tag",
        absl::StrCat(R"({"format":{"type":"tag","begin":"<v>","end":"</v>","content":)"
                     R"({"type":"json_schema","style":"qwen_xml","json_schema":)",
                     schema, "}}}"));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return compiled.ok() && *AcceptsByMasks(*compiled, text);
  };
  EXPECT_TRUE(takes(R"({"type":"string"})", "<v>a \"b\" <c></v>"));
  EXPECT_TRUE(takes(R"({"type":"string"})", "<v></v>"));
  EXPECT_FALSE(takes(R"({"type":"string"})", "<v>a</v>b</v>"));
  EXPECT_FALSE(takes(R"({"type":"string"})", "<v>a</parameter></v>"));
  EXPECT_TRUE(takes(R"({"type":"integer"})", "<v> 3 </v>"));
  EXPECT_FALSE(takes(R"({"type":"integer"})", "<v>x</v>"));
  EXPECT_TRUE(takes(R"({"type":["integer","array"],"items":{"type":"null"}})", "<v>[null]</v>"));
}

TEST(XmlStyleErrorsTest, AListedStringThatCannotBeWrittenIsTold) {
  const auto read = ReadForTest(
      "structural_tag", Source({"", "qwen_xml", R"("e":{"enum":["x","a</parameter>b"]})", {}, {}}));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 1);
  EXPECT_THAT(read->warnings[0].message, testing::HasSubstr(R"("a</parameter>b" is left out)"));
  EXPECT_EQ(read->warnings[0].place, "/format/json_schema");
}

TEST(XmlStyleErrorsTest, SayWhatIsMissing) {
  const auto given =
      ReadForTest("structural_tag", Source({"", "cohere_xml", R"("a":{"const":[[]]})", {}, {}}));
  EXPECT_EQ(given.status().code(), absl::StatusCode::kUnimplemented) << given.status();
  EXPECT_THAT(std::string(given.status().message()), testing::StartsWith("/format/json_schema: "));
  const std::pair<const char*, const char*> refused[] = {
      {R"({"type":"object","minProperties":1})", "counts and conditions of members"},
      {R"({"type":"object","minProperties":2,"additionalProperties":{"type":"integer"}})",
       "counts and conditions of members"},
      {R"({"anyOf":[{"const":{"a":1}},{"type":"object","required":["b"]}]})", "a given object"}};
  for (const auto& [schema, what] : refused) {
    const auto of_shape = ReadForTest(
        "structural_tag",
        absl::StrCat(R"({"format":{"type":"qwen_xml_parameter","json_schema":)", schema, "}}"));
    EXPECT_EQ(of_shape.status().code(), absl::StatusCode::kUnimplemented) << schema;
    EXPECT_THAT(std::string(of_shape.status().message()), testing::HasSubstr(what)) << schema;
  }
}

}  // namespace
}  // namespace maskd
