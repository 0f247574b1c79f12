// The IR of schemas taken apart, held against the schema's validator: the parts of a value that are
// left when those of one type are kept match the valid values of that type.
#include "grammar_core/frontend/structural_tag/value_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/style_schemas.h"

namespace maskd {
namespace {

GrammarIr ReadIr(absl::string_view schema, SchemaValues values = SchemaValues::kInline) {
  Budget budget = Budget::Unlimited();
  GrammarSource source = {"json_schema", std::string(schema)};
  source.options.white_space = WhiteSpace::kCompact;
  return ReadJsonSchema(source, Limits(), budget, values)->ir;
}

// The grammar of one node of `ir`.
GrammarIr OfNode(GrammarIr ir, NodeId node) {
  ir.rules.push_back(ir.rules[ir.start]);
  ir.rules.back().body = node;
  ir.start = static_cast<RuleId>(ir.rules.size() - 1);
  return ir;
}

ValueType TypeBehind(absl::string_view json) {
  switch (json[0]) {
    case '"':
      return ValueType::kString;
    case '[':
      return ValueType::kArray;
    case '{':
      return ValueType::kObject;
    case 't':
    case 'f':
      return ValueType::kBoolean;
    case 'n':
      return ValueType::kNull;
    default:
      return ValueType::kNumber;
  }
}

class ValuePartsTest : public testing::TestWithParam<StyleSchema> {};

TEST_P(ValuePartsTest, EachHasTheValuesOfItsType) {
  const GrammarIr ir = ReadIr(GetParam().schema);
  Budget budget = Budget::Unlimited();
  const auto parts = ValueParts(ir, budget).Of(ir.rules[ir.start].body);
  ASSERT_TRUE(parts.ok()) << parts.status();
  SchemaParts validator(GetParam().schema);
  for (const std::string& value : StyleValues()) {
    bool is_taken = false;
    for (const ValueParts::Part& part : *parts) {
      bool takes = false;
      for (const std::u32string& text : part.texts)
        takes = takes || std::string(text.begin(), text.end()) == value;
      if (part.texts.empty()) {
        const GrammarIr alone = OfNode(ir, part.node);
        takes = IrRecognizer(alone).Accepts(value);
      }
      EXPECT_TRUE(!takes || part.type == TypeBehind(value)) << value;
      is_taken = is_taken || takes;
    }
    EXPECT_EQ(is_taken, validator.Validates(value, validator.Holds(""))) << value;
  }
}

TEST_P(ValuePartsTest, AStringsContentsAreItsCharacters) {
  const GrammarIr ir = ReadIr(GetParam().schema);
  Budget budget = Budget::Unlimited();
  const ValueParts values(ir, budget);
  const auto parts = values.Of(ir.rules[ir.start].body);
  ASSERT_TRUE(parts.ok()) << parts.status();
  SchemaParts validator(GetParam().schema);
  for (const char* text : {"", "a", "ab", "abc", "true", "1"}) {
    bool is_taken = false;
    for (const ValueParts::Part& part : *parts) {
      if (part.type != ValueType::kString) continue;
      ASSERT_TRUE(part.texts.empty());
      const std::optional<NodeId> contents = values.Contents(part.node);
      if (!contents.has_value()) {
        is_taken = is_taken || *text == '\0';
        continue;
      }
      const GrammarIr alone = OfNode(ir, *contents);
      is_taken = is_taken || IrRecognizer(alone).Accepts(text);
    }
    EXPECT_EQ(is_taken, validator.Validates(absl::StrCat("\"", text, "\""), validator.Holds("")))
        << text;
  }
}

// Made again as it was, or refused.
TEST_P(ValuePartsTest, AnArrayIsMadeAgain) {
  const GrammarIr ir = ReadIr(GetParam().schema, SchemaValues::kRules);
  Budget budget = Budget::Unlimited();
  const ValueParts values(ir, budget);
  const auto parts = values.Of(ir.rules[ir.start].body);
  ASSERT_TRUE(parts.ok()) << parts.status();
  for (const ValueParts::Part& part : *parts) {
    if (part.type != ValueType::kArray) continue;
    std::map<NodeId, std::vector<NodeId>> made;
    const absl::StatusOr<NodeId> again =
        values.Remade(part.node, [&](NodeId node, const std::vector<NodeId>& children) {
          EXPECT_TRUE(made.emplace(node, children).second) << "made once";
          return node;
        });
    EXPECT_EQ(again.ok(), !GetParam().is_json_only) << again.status();
    if (!again.ok()) {
      EXPECT_EQ(ErrorReason(again.status()), "UNSUPPORTED");
      EXPECT_EQ(ErrorPlace(again.status()), "");
      continue;
    }
    EXPECT_EQ(*again, part.node);
    for (const auto& [node, children] : made) {
      const IrNode& n = ir.nodes[node];
      const std::vector<NodeId> own(ir.children.begin() + n.first_child,
                                    ir.children.begin() + n.first_child + n.child_count);
      EXPECT_EQ(children, own);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, ValuePartsTest, testing::ValuesIn(StyleSchemas()),
                         [](const auto& test) { return test.param.name; });

TEST(ValueParts, AListOfStringsIsToldAsSuch) {
  const auto listed = [](absl::string_view schema) {
    const GrammarIr ir = ReadIr(schema);
    Budget budget = Budget::Unlimited();
    const ValueParts values(ir, budget);
    const auto parts = *values.Of(ir.rules[ir.start].body);
    std::vector<std::u32string> texts = values.Listed(*values.Contents(parts.at(0).node));
    std::ranges::sort(texts);
    return texts;
  };
  using Texts = std::vector<std::u32string>;
  EXPECT_EQ(listed(R"({"enum":["ab","c"]})"), (Texts{U"ab", U"c"}));
  EXPECT_EQ(listed(R"({"enum":["a","b","d"]})"), (Texts{U"a", U"b", U"d"}));
  EXPECT_EQ(listed(R"({"enum":["","ab"]})"), (Texts{U"", U"ab"}));
  EXPECT_EQ(listed(R"({"enum":["b","","a"]})"), (Texts{U"", U"a", U"b"}));
  EXPECT_EQ(listed(R"({"const":"\u00e9"})"), Texts{U"\u00e9"});
  for (const char* schema : {R"({"type":"string"})", R"({"type":"string","maxLength":1})",
                             R"({"type":"string","pattern":"^ab*$"})",
                             R"({"type":"string","minLength":1,"maxLength":1})"})
    EXPECT_TRUE(listed(schema).empty()) << schema;
}

TEST(ValueParts, AnIrOfAnotherShapeIsRefused) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Alt({b.Bytes("null"), b.Bytes("x")}));
  const GrammarIr ir = *std::move(b).Build(rule);
  Budget budget = Budget::Unlimited();
  const auto parts = ValueParts(ir, budget).Of(ir.rules[ir.start].body);
  EXPECT_EQ(parts.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(parts.status()), "");
}

TEST(ValueParts, ARuleWithinItselfEnds) {
  IrBuilder b{Limits()};
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(rule, b.Alt({b.Call(rule), b.Bytes("null")}));
  const GrammarIr ir = *std::move(b).Build(rule);
  Budget budget = Budget::Unlimited();
  const auto parts = ValueParts(ir, budget).Of(ir.rules[ir.start].body);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ(parts->front().type, ValueType::kNull);
}

}  // namespace
}  // namespace maskd
