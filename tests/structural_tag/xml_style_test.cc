// Elements of each style, held against the schema's validator by a writer of a few lines; the ends
// of values, names, and how a style is said.
#include "grammar_core/frontend/structural_tag/xml_style.h"

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/value_parts.h"
#include "tests/structural_tag/style_schemas.h"

namespace maskd {
namespace {

constexpr absl::string_view kElements = R"({"open":"<p n='","behind_name":"'>","close":"</p>"})";
constexpr absl::string_view kCdata = R"({"open":"<p n='","behind_name":"'>","close":"</p>",
  "cdata_begin":"<[","cdata_end":"]>"})";

WrittenStyleRef Said(absl::string_view json) {
  return *ReadWrittenStyle(JsonDocument::Parse(json, Limits())->root());
}

ValueType TypeOfValue(const JsonValue& value) {
  if (value.is_string()) return ValueType::kString;
  if (value.is_number()) return ValueType::kNumber;
  if (value.is_bool()) return ValueType::kBoolean;
  if (value.is_array()) return ValueType::kArray;
  return value.is_object() ? ValueType::kObject : ValueType::kNull;
}

// One value behind the head of its element; `in_cdata`: strings stand in a section.
std::string Written(const XmlStyle& style, const JsonValue& value, bool in_cdata);

std::string Members(const XmlStyle& style, const JsonValue& object, bool in_cdata) {
  std::string text;
  for (const JsonValue member : object.children()) {
    absl::StrAppend(&text, style.open, member.key(), style.behind_name,
                    Written(style, member, in_cdata), style.close,
                    style.closes_by_name ? absl::StrCat(member.key(), ">") : "");
  }
  return text;
}

std::string Written(const XmlStyle& style, const JsonValue& value, bool in_cdata) {
  std::string text =
      absl::StrCat(style.type_names[static_cast<int>(TypeOfValue(value))], style.before_value);
  if (value.is_string() && in_cdata)
    absl::StrAppend(&text, style.cdata_begin, value.text(), style.cdata_end);
  else if (value.is_string())
    absl::StrAppend(&text, value.text());
  else if (style.nests() && value.is_array())
    for (const JsonValue item : value.children())
      absl::StrAppend(&text, style.item_open, Written(style, item, in_cdata), style.item_close);
  else if (style.nests() && value.is_object())
    absl::StrAppend(&text, Members(style, value, in_cdata));
  else
    absl::StrAppend(&text, value.Compact());
  return text;
}

struct ElementsCase {
  std::string name;
  std::string style;  // as JSON
  StyleSchema schema;
};

std::vector<ElementsCase> ElementsCases() {
  std::vector<std::pair<std::string, std::string>> styles = {{"said", std::string(kElements)},
                                                             {"cdata", std::string(kCdata)}};
  for (const absl::string_view name : XmlStyleNames())
    styles.emplace_back(name, absl::StrCat("\"", name, "\""));
  std::vector<ElementsCase> cases;
  for (const auto& [name, style] : styles)
    for (const StyleSchema& schema : StyleSchemas())
      cases.push_back({absl::StrCat(name, "_", schema.name), style, schema});
  return cases;
}

class ElementsTest : public testing::TestWithParam<ElementsCase> {
 protected:
  void Expect(const std::vector<std::string>& excludes, PropertyOrder order, bool in_cdata) const {
    const WrittenStyleRef style = Said(GetParam().style);
    const XmlStyle& elements = *style->elements();
    const auto write = [&](const JsonValue& object) -> std::optional<std::string> {
      const JsonValue value = *object.Nth(0);
      // Where names close elements, members that are not declared are in no text.
      const bool is_left_out = elements.closes_by_name && value.is_object() && value.size() > 0;
      if (is_left_out || (in_cdata && !value.is_string())) return std::nullopt;
      return Members(elements, object, in_cdata);
    };
    ExpectWrites({style, excludes, order}, GetParam().schema, write);
  }
};

TEST_P(ElementsTest, AreTheValuesOfTheSchema) {
  if (GetParam().style == kCdata) Expect({}, PropertyOrder::kDeclared, true);
  Expect({}, PropertyOrder::kDeclared, false);
  Expect({}, PropertyOrder::kAny, false);
}

TEST_P(ElementsTest, HoldNoExcludedText) {
  for (const char* excluded : {"a", "l", "1", "b", "v"}) {
    if (GetParam().style == kCdata) Expect({excluded}, PropertyOrder::kDeclared, true);
    Expect({excluded}, PropertyOrder::kDeclared, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Styles, ElementsTest, testing::ValuesIn(ElementsCases()),
                         [](const auto& test) { return test.param.name; });

// What a schema's elements are, without a tag around them.
bool Takes(absl::string_view style, absl::string_view schema, absl::string_view text,
           const SchemaWriting& said = {}) {
  TagParts parts;
  SchemaWriting writing = said;
  writing.style = Said(style);
  const absl::StatusOr<NodeId> node = parts.embedded.Schema(parts.Value(schema), writing);
  EXPECT_TRUE(node.ok()) << node.status();
  const GrammarIr ir = parts.GrammarOf(*node);
  return IrRecognizer(ir).Accepts(text);
}

constexpr absl::string_view kTwo = R"({"type":"object","properties":{"a":{"type":"string"},
  "b":{"type":"integer"}},"required":["a"],"additionalProperties":false})";

TEST(XmlStyle, MembersComeInDeclaredOrderUnlessAnyIsAsked) {
  const std::string a = "<p n='a'>x</p>";
  const std::string b = "<p n='b'>1</p>";
  SchemaWriting any;
  any.options.property_order = PropertyOrder::kAny;
  EXPECT_TRUE(Takes(kElements, kTwo, a + b));
  EXPECT_FALSE(Takes(kElements, kTwo, b + a));
  EXPECT_TRUE(Takes(kElements, kTwo, b + a, any));
  EXPECT_FALSE(Takes(kElements, kTwo, b, any));
  EXPECT_FALSE(Takes(kElements, kTwo, a + b + a, any));
}

TEST(XmlStyle, WhiteSpaceStandsAroundElementsAndNotInCompact) {
  SchemaWriting compact;
  compact.options.white_space = WhiteSpace::kCompact;
  EXPECT_TRUE(Takes(kElements, kTwo, "\n<p n='a'>x</p>\n<p n='b'> 1\n</p> "));
  EXPECT_FALSE(Takes(kElements, kTwo, "<p n='a'>x</p>\n<p n='b'>1</p>", compact));
  EXPECT_FALSE(Takes(kElements, kTwo, "<p n='a'>x</p><p n='b'>1 </p>", compact));
  EXPECT_TRUE(Takes(kElements, kTwo, "<p n='a'>x</p><p n='b'>1</p>", compact));
}

TEST(XmlStyle, NoValueHoldsItsEnd) {
  constexpr absl::string_view kDeep = R"({"properties":{"a":{"type":"array"}},"type":"object"})";
  EXPECT_TRUE(Takes(kElements, kDeep, "<p n='a'>[\"<p>\"]</p>"));
  EXPECT_FALSE(Takes(kElements, kDeep, "<p n='a'>[\"</p>\"]</p>"));
  EXPECT_FALSE(Takes(kElements, kTwo, "<p n='a'></p></p>"));
  EXPECT_TRUE(Takes(kCdata, kTwo, "<p n='a'><[</p>]></p>"));
}

TEST(XmlStyle, AWholeValueHoldsNoEndOfItsTag) {
  SchemaWriting in_tag;
  in_tag.ends = {"</t>"};
  EXPECT_TRUE(Takes(kElements, R"({"type":"string"})", "a<t>", in_tag));
  EXPECT_FALSE(Takes(kElements, R"({"type":"string"})", "a</t>", in_tag));
  EXPECT_TRUE(Takes(kElements, kTwo, "<p n='a'></t></p>", in_tag));
  in_tag.last = {"<"};
  EXPECT_TRUE(Takes(kElements, R"({"type":"string"})", "<a", in_tag));
  EXPECT_FALSE(Takes(kElements, R"({"type":"string"})", "a<", in_tag));
  EXPECT_TRUE(Takes(kElements, kTwo, "<p n='a'><</p>", in_tag));
  EXPECT_TRUE(Takes(kElements, R"({"type":["string","integer"],"maxLength":0})", "12", in_tag));
}

TEST(XmlStyle, AListedStringWithAnEndIsLeftOutAndTold) {
  constexpr absl::string_view kShort = R"({"open":"<","behind_name":"=","close":">"})";
  for (const auto& [style, list, lost] : {std::tuple{kElements, R"(["x</p>","y"])", "x</p>"},
                                          {kElements, R"(["x</p>"])", "x</p>"},
                                          {kElements, R"(["","x</p>"])", "x</p>"},
                                          {kElements, R"(["","y","x</p>"])", "x</p>"},
                                          {kShort, R"([">","y"])", ">"}}) {
    TagParts parts;
    const JsonValue schema =
        parts.Value(absl::StrCat(R"({"type":"object","properties":{"a":{"enum":)", list, "}}}"));
    ASSERT_TRUE(parts.embedded.Schema(schema, InStyle(Said(style))).ok());
    ASSERT_EQ(parts.result.warnings.size(), 1U) << list;
    EXPECT_THAT(parts.result.warnings[0].message,
                testing::StartsWith(absl::StrCat("\"", lost, "\" is left out")));
  }
}

TEST(XmlStyle, NamesAreEscapedWhereTheStyleDoesSo) {
  constexpr absl::string_view kOdd =
      R"({"type":"object","properties":{"a&\"<>":{"type":"null"}},"required":["a&\"<>"]})";
  EXPECT_TRUE(Takes(R"("cohere_xml")", kOdd,
                    "<cofl:value name=\"a&amp;&quot;&lt;&gt;\" type=\"json\">null</cofl:value>"));
  EXPECT_TRUE(Takes(R"("minimax_xml")", kOdd, "<parameter name=\"a&\"<>\">null</parameter>"));
}

// Who reads the element back takes what stands before the first `behind_name` for the name.
TEST(XmlStyle, ANameThatEndsSoonerIsNotWritten) {
  for (const auto& [style, name] :
       {std::tuple{R"("qwen_xml")", "a>b"}, std::tuple{R"("qwen_xml")", ">"},
        std::tuple{R"("minimax_xml")", R"(a\">)"}, std::tuple{R"("glm_xml")", "</arg_key>"},
        std::tuple{R"({"open":"<","behind_name":"==","close":">"})", "a="}}) {
    const std::string properties =
        absl::StrCat(R"({"type":"object","properties":{")", name, R"(":{},"c":{"type":"null"}})");
    TagParts parts;
    const JsonValue needed =
        parts.Value(absl::StrCat(properties, R"(,"required":[")", name, R"("]})"));
    const absl::Status refused = parts.embedded.Schema(needed, InStyle(Said(style))).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented) << style << name;
    EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("which holds")) << style << name;
    const JsonValue optional = parts.Value(properties + "}");
    ASSERT_TRUE(parts.embedded.Schema(optional, InStyle(Said(style))).ok());
    ASSERT_EQ(parts.result.warnings.size(), 1U) << style << name;
    EXPECT_THAT(parts.result.warnings[0].message, testing::HasSubstr("is left out in the style"));
  }
  constexpr absl::string_view kOdd =
      R"({"type":"object","properties":{"a>":{"type":"null"},"c":{"type":"null"}},
          "additionalProperties":false})";
  EXPECT_TRUE(Takes(R"("qwen_xml")", kOdd, "<parameter=c>null</parameter>"));
  EXPECT_FALSE(Takes(R"("qwen_xml")", kOdd, "<parameter=a>>null</parameter>"));
}

TEST(XmlStyle, ANameThatOnlyLooksLikeItsEndIsWritten) {
  constexpr absl::string_view kOdd =
      R"({"type":"object","properties":{"a\"":{"type":"null"}},"required":["a\""]})";
  EXPECT_TRUE(Takes(R"("minimax_xml")", kOdd, "<parameter name=\"a\"\">null</parameter>"));
  EXPECT_TRUE(Takes(R"("qwen_xml")", kOdd, "<parameter=a\">null</parameter>"));
}

TEST(XmlStyle, NoOtherNameEndsSooner) {
  constexpr absl::string_view kShort = R"({"open":"<","behind_name":"::","close":">"})";
  constexpr absl::string_view kOthers =
      R"({"type":"object","additionalProperties":{"type":"null"}})";
  EXPECT_TRUE(Takes(kShort, kOthers, "<a:b::null>"));
  EXPECT_FALSE(Takes(kShort, kOthers, "<a:::null>"));
  EXPECT_FALSE(Takes(kShort, kOthers, "<a::b::null>"));
}

TEST(XmlStyle, AStringEndsAtTheFirstClose) {
  constexpr absl::string_view kFence = R"({"open":"<","behind_name":"=","close":"```"})";
  EXPECT_TRUE(Takes(kFence, kTwo, "<a=x```"));
  EXPECT_TRUE(Takes(kFence, kTwo, "<a=x`y```"));
  EXPECT_FALSE(Takes(kFence, kTwo, "<a=x````"));
  EXPECT_FALSE(Takes(kFence, kTwo, "<a=x`````"));
}

TEST(XmlStyle, MoreMembersThanMayBeFreeKeepTheirOrder) {
  for (const std::size_t count : {kMaxFreeMembers, kMaxFreeMembers + 1}) {
    TagParts parts;
    std::string properties;
    std::string backwards;
    for (std::size_t i = 0; i < count; ++i) {
      absl::StrAppend(&properties, i > 0 ? "," : "", "\"m", i, "\":{\"type\":\"null\"}");
      backwards = absl::StrCat("<p n='m", i, "'>null</p>", backwards);
    }
    SchemaWriting any = InStyle(Said(kElements));
    any.options.property_order = PropertyOrder::kAny;
    const JsonValue schema =
        parts.Value(absl::StrCat(R"({"type":"object","properties":{)", properties, "}}"));
    const absl::StatusOr<NodeId> node = parts.embedded.Schema(schema, any);
    ASSERT_TRUE(node.ok()) << node.status();
    EXPECT_EQ(parts.result.warnings.size(), count > kMaxFreeMembers ? 1U : 0U);
    const GrammarIr ir = parts.GrammarOf(*node);
    EXPECT_EQ(IrRecognizer(ir).Accepts(backwards), count <= kMaxFreeMembers);
  }
}

TEST(XmlStyle, IsFoundByName) {
  for (const absl::string_view name : XmlStyleNames()) {
    ASSERT_NE(FindXmlStyle(name), nullptr);
    EXPECT_EQ(FindXmlStyle(name)->name, name);
  }
  EXPECT_EQ(FindXmlStyle("json"), nullptr);
  EXPECT_EQ(FindXmlStyle("python"), nullptr);
  EXPECT_EQ(FindXmlStyle("minimax_m3_xml")->end_of_values(), "]<]minimax[>[");
  EXPECT_EQ(FindXmlStyle("qwen_xml")->end_of_values(), "</parameter>");
}

struct SaidCase {
  const char* name;
  const char* json;
  const char* place;
};

class BadStyleTest : public testing::TestWithParam<SaidCase> {};

TEST_P(BadStyleTest, IsToldAtItsMember) {
  const auto document = *JsonDocument::Parse(GetParam().json, Limits());
  const absl::Status status = ReadXmlStyle(document.root()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Styles, BadStyleTest,
    testing::ValuesIn(std::vector<SaidCase>{
        {"NoOpen", R"({"behind_name":">","close":"c"})", "/open"},
        {"EmptyClose", R"({"open":"<","behind_name":">","close":""})", "/close"},
        {"NoText", R"({"open":"<","behind_name":1,"close":"c"})", "/behind_name"},
        {"PadOfNoText", R"({"open":"<","behind_name":">","close":"c","pad":1})", "/pad"},
        {"HalfOfCdata", R"({"open":"<","behind_name":">","close":"c","cdata_end":"e"})", ""},
        {"PadBesideCdata", R"({"open":"<","behind_name":">","close":"c","pad":" ",
          "cdata_begin":"b","cdata_end":"e"})",
         "/pad"},
        {"Unknown", R"({"open":"<","behind_name":">","close":"c","name":"x"})", "/name"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
