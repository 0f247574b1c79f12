// Where white space stands: on a line by hand, on lines as json.dumps writes it.
#include "grammar_core/frontend/json_schema/rules/layout.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

// Of {"a":[1,2],"b":[]} where elements are made by the layout.
NodeId SampleValue(const Layout& layout, IrBuilder& b) {
  const std::vector<NodeId> numbers = {layout.First(b.Bytes("1")), layout.Next(b.Bytes("2"))};
  const NodeId list = layout.Container('[', numbers, false);
  const NodeId empty = layout.Container('[', {}, true);
  std::vector<NodeId> members;
  layout.Append(layout.Member(b.Bytes("\"a\""), list), &members);
  layout.Append(layout.Member(b.Bytes("\"b\""), empty), &members);
  return layout.Container('{', members, false);
}

// The same of an object of IR.
NodeId SampleObject(const Layout& layout, IrBuilder& b) {
  const std::vector<NodeId> numbers = {layout.First(b.Bytes("1")), layout.Next(b.Bytes("2"))};
  ObjectSpec spec;
  spec.members = {{"a", layout.Container('[', numbers, false), true},
                  {"b", layout.Container('[', {}, true), true}};
  layout.Apply(&spec);
  return b.Object(std::move(spec));
}

struct LayoutCase {
  const char* name;
  GrammarOptions options;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

void PrintTo(const LayoutCase& c, std::ostream* out) { *out << c.name; }

class LayoutTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(LayoutTest, HasTheseTexts) {
  for (const auto make : {&SampleValue, &SampleObject}) {
    IrBuilder builder{Limits()};
    const Layout layout(GetParam().options, builder);
    const RuleId rule = builder.DeclareRule("value", "");
    builder.DefineRule(rule, make(layout, builder));
    const GrammarIr ir = *std::move(builder).Build(rule);
    IrRecognizer recognizer(ir);
    for (const std::string& text : GetParam().accepts)
      EXPECT_TRUE(recognizer.Accepts(text)) << text;
    for (const std::string& text : GetParam().rejects)
      EXPECT_FALSE(recognizer.Accepts(text)) << text;
  }
}

GrammarOptions Flexible(std::int32_t max) { return {.max_whitespace = max}; }
GrammarOptions Compact() { return {.white_space = WhiteSpace::kCompact}; }
GrammarOptions Indented(std::int32_t spaces) { return {.indent = spaces}; }
GrammarOptions Separated(GrammarOptions options, std::optional<std::string> item,
                         std::optional<std::string> key) {
  options.item_separator = std::move(item);
  options.key_separator = std::move(key);
  return options;
}

const std::string kCompactText = R"({"a":[1,2],"b":[]})";
const std::string kDumped = R"({"a": [1, 2], "b": []})";
// By json.dumps({"a": [1, 2], "b": []}, indent=2).
const std::string kIndented = "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}";

INSTANTIATE_TEST_SUITE_P(
    Options, LayoutTest,
    testing::ValuesIn(std::vector<LayoutCase>{
        {"Compact", Compact(), {kCompactText}, {kDumped, kIndented, kCompactText + " "}},
        {"Flexible",
         Flexible(64),
         {kCompactText, kDumped, kIndented, "{ \"a\"\t:\r\n[ 1 , 2 ] , \"b\" : [ ] }"},
         {" " + kCompactText, kCompactText + " ", "{\"a\":[1, ,2],\"b\":[]}"}},
        {"FlexibleUpTo2",
         Flexible(2),
         {kDumped, R"({  "a":[1,2],"b":[  ]})"},
         {R"({   "a":[1,2],"b":[]})", R"({"a":[1,   2],"b":[]})"}},
        {"BothSeparators",
         Separated(Flexible(64), ", ", ": "),
         {kDumped},
         {kCompactText, R"({"a": [1,  2], "b": []})", R"({"a": [1, 2], "b": [ ]})"}},
        {"ItemSeparator",
         Separated(Flexible(64), ", ", std::nullopt),
         {kDumped, R"({"a":[1, 2], "b":  []})"},
         {kCompactText, R"({"a":[1, 2], "b":[ ]})", R"({ "a":[1, 2], "b":[]})"}},
        {"KeySeparator",
         Separated(Compact(), std::nullopt, ": "),
         {R"({"a": [1,2],"b": []})"},
         {kCompactText, kDumped}},
        {"Indent",
         Indented(2),
         {kIndented},
         {kCompactText, kDumped, kIndented + "\n", "{\n  \"a\": [\n    1, 2\n  ],\n  \"b\": []\n}",
          "{\n  \"a\": [\n  1,\n  2\n  ],\n  \"b\": []\n}"}},
        {"IndentOfNone", Indented(0), {"{\n\"a\": [\n1,\n2\n],\n\"b\": []\n}"}, {kDumped}},
        {"IndentWithSeparators",
         Separated(Indented(1), ", ", ":"),
         {"{\n \"a\":[\n  1, \n  2\n ], \n \"b\":[]\n}"},
         {kIndented}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(Layout, AContainerMayBeEmptyWhereItIsSaid) {
  for (const GrammarOptions& options : {Compact(), Indented(2)}) {
    for (const bool may_be_empty : {false, true}) {
      IrBuilder builder{Limits()};
      const Layout layout(options, builder);
      const NodeId element = layout.First(builder.Bytes("1"));
      const RuleId rule = builder.DeclareRule("list", "");
      builder.DefineRule(rule, layout.Container('[', {element}, may_be_empty));
      const GrammarIr ir = *std::move(builder).Build(rule);
      IrRecognizer recognizer(ir);
      EXPECT_EQ(recognizer.Accepts("[]"), may_be_empty);
      EXPECT_TRUE(recognizer.Accepts(options.indent.has_value() ? "[\n  1\n]" : "[1]"));
    }
  }
}

TEST(Layout, StringsAreSpelledAsTheOptionsSay) {
  IrBuilder builder{Limits()};
  EXPECT_EQ(Layout({.spelling = JsonSpelling::kAny}, builder).spelling(), Spelling::kJsonString);
  const Layout canonical({.spelling = JsonSpelling::kCanonical}, builder);
  EXPECT_EQ(canonical.spelling(), Spelling::kCanonicalJson);
  ObjectSpec spec;
  canonical.Apply(&spec);
  EXPECT_EQ(spec.spelling, Spelling::kCanonicalJson);
}

}  // namespace
}  // namespace maskd
