// Schemas of one argument `v` and values for it: what a style writes must be the values that the
// schema validator takes, whatever shape the schema has.
#ifndef MASKD_TESTS_STRUCTURAL_TAG_STYLE_SCHEMAS_H_
#define MASKD_TESTS_STRUCTURAL_TAG_STYLE_SCHEMAS_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/structural_tag/written_style.h"
#include "tests/json_schema/logic/schema_parts.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {

struct StyleSchema {
  const char* name;
  const char* schema;
  // Whether styles that write arrays and objects not as JSON refuse it.
  bool is_json_only = false;
};

inline const std::vector<StyleSchema>& StyleSchemas() {
  static const auto* const schemas = new std::vector<StyleSchema>{
      {"Any", "true"},
      {"Text", R"({"type":"string"})"},
      {"EmptyText", R"({"const":""})"},
      {"OneText", R"({"const":"a"})"},
      {"ShortText", R"({"type":"string","maxLength":1})"},
      {"NoLength", R"({"type":"string","maxLength":0})"},
      {"Pattern", R"({"type":"string","pattern":"^a"})"},
      {"NotOneText", R"({"type":"string","not":{"enum":["","a"]}})"},
      {"TextOrNumber", R"({"type":["string","integer"]})"},
      {"TextOrNull", R"({"type":["string","null"],"maxLength":2})"},
      {"Number", R"({"type":"number"})"},
      {"OneNumber", R"({"const":1})"},
      {"Numbers", R"({"enum":[1,2,1.5]})"},
      {"Multiples", R"({"type":"integer","multipleOf":2})"},
      {"Bounds", R"({"type":"number","exclusiveMinimum":0,"maximum":1.5})"},
      {"Boolean", R"({"type":"boolean"})"},
      {"OneBoolean", R"({"const":true})"},
      {"Booleans", R"({"enum":[true,false]})"},
      {"Null", R"({"const":null})"},
      {"Words", R"({"enum":[false,null]})"},
      {"MixedList", R"({"enum":["a","",1,1.5,true,null]})"},
      {"WordsAsTexts", R"({"enum":["true","null","1"]})"},
      {"NotAText", R"({"not":{"type":"string"}})"},
      {"NotListed", R"({"not":{"enum":["a",1,null]}})"},
      {"AnyOfLists", R"({"anyOf":[{"enum":["a",1]},{"const":"ab"},{"type":"null"}]})"},
      {"OneOf", R"({"oneOf":[{"type":"string"},{"const":"a"},{"type":"boolean"}]})"},
      {"IfThen", R"({"if":{"type":"string"},"then":{"maxLength":1}})"},
      {"Array", R"({"type":"array"})"},
      {"Items", R"({"type":"array","items":{"type":"integer"}})"},
      {"MixedItems", R"({"type":"array","items":{"enum":["a",1,null]}})"},
      {"FewItems", R"({"type":"array","minItems":1,"maxItems":2})"},
      {"Prefix", R"({"prefixItems":[{"const":"a"},{"type":"integer"}],"type":"array"})"},
      {"PrefixOnly", R"({"prefixItems":[{"type":"integer"}],"items":false,"type":"array"})"},
      {"NoItems", R"({"type":"array","maxItems":0})"},
      {"EmptyArray", R"({"const":[]})"},
      {"Object", R"({"type":"object"})"},
      {"Members", R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],
        "additionalProperties":{"type":["integer","null"]}})"},
      {"NoMembers", R"({"type":"object","additionalProperties":false})"},
      {"OddMember", R"({"type":"object","properties":{"a":{"const":"x"},"b":false}})"},
      {"Names", R"({"type":"object","propertyNames":{"enum":["a","b"]}})"},
      {"NamePatterns", R"({"type":"object","patternProperties":{"^a":{"type":"integer"}}})"},
      {"ObjectOrText", R"({"type":["object","string"],"maxLength":2})"},
      {"ArrayOrText", R"({"type":["array","string"],"items":{"type":"string"}})"},
      {"OneArray", R"({"const":[1]})", true},
      {"OneObject", R"({"const":{"a":1}})", true},
      {"ArrayInList", R"({"enum":["a",[1]]})", true},
      {"Contains", R"({"type":"array","contains":{"type":"integer"}})", true},
      {"Unique", R"({"type":"array","uniqueItems":true})", true},
      {"SomeMembers", R"({"type":"object","minProperties":1})", true},
      {"Dependent", R"({"type":"object","dependentRequired":{"a":["b"]}})", true},
  };
  return *schemas;
}

// `value` with the scalars at the set bits of `which` as the strings that are spelled as they are.
inline std::string WithTexts(const JsonValue& array, unsigned which) {
  std::string all = "[";
  for (const JsonValue item : array.children()) {
    if (all.size() > 1) all.push_back(',');
    if (((which >> item.index()) & 1U) != 0 && !item.is_string())
      AppendJsonString(item.Compact(), &all);
    else
      item.AppendCompact(&all);
  }
  return all + "]";
}

// The small values, and strings that are spelled as one of them is.
inline const std::vector<std::string>& StyleValues() {
  static const auto* const values = [] {
    auto* all = new std::vector<std::string>(SmallValues());
    for (const std::string& value : SmallValues()) {
      const auto document = *JsonDocument::Parse(value, Limits());
      if (!document.root().is_array()) continue;
      for (unsigned which = 1; which < 1U << document.root().size(); ++which)
        all->push_back(WithTexts(document.root(), which));
    }
    const std::size_t count = all->size();
    for (std::size_t i = 0; i < count; ++i) {
      if ((*all)[i][0] == '"') continue;
      std::string text;
      AppendJsonString((*all)[i], &text);
      all->push_back(std::move(text));
    }
    return all;
  }();
  return *values;
}

// Whether a string in `value`, a name included, holds `text`.
inline bool HoldsText(const JsonValue& value, absl::string_view text) {
  for (JsonId id = value.id(); id < value.subtree_end(); ++id) {
    const JsonValue at = value.at(id);
    const bool in_name = id != value.id() && absl::StrContains(at.key(), text);
    if (in_name || (at.is_string() && absl::StrContains(at.text(), text))) return true;
  }
  return false;
}

// What a call is written with beside its style.
struct StyleUse {
  WrittenStyleRef style;
  std::vector<std::string> excludes = {};
  PropertyOrder order = PropertyOrder::kDeclared;
};

inline SchemaWriting InStyle(WrittenStyleRef style) {
  SchemaWriting writing;
  writing.style = std::move(style);
  return writing;
}

// Holds the grammar of {"v": value} for values of `schema` against the validator. `write` spells
// such an object; nothing where the style has no way to.
using WriteObject = absl::FunctionRef<std::optional<std::string>(const JsonValue& object)>;
inline void ExpectWrites(const StyleUse& use, const StyleSchema& schema, WriteObject write) {
  TagParts parts;
  const JsonValue whole = parts.Value(
      absl::StrCat(R"({"type":"object","properties":{"v":)", schema.schema, R"(},"required":["v"],
                                                   "additionalProperties":false})"));
  SchemaWriting writing = InStyle(use.style);
  writing.excludes = use.excludes;
  writing.options.property_order = use.order;
  const absl::StatusOr<NodeId> written = parts.embedded.Schema(whole, writing);
  const bool nests = use.style->nests();
  if (nests && schema.is_json_only && use.order == PropertyOrder::kDeclared) {
    EXPECT_EQ(written.status().code(), absl::StatusCode::kUnimplemented) << written.status();
    return;
  }
  if (nests && schema.is_json_only) return;
  ASSERT_TRUE(written.ok()) << written.status();
  const GrammarIr ir = parts.GrammarOf(*written);
  IrRecognizer recognizer(ir);
  SchemaParts validator(schema.schema);
  std::set<std::string> texts;
  std::set<std::string> valid;
  for (const std::string& value : StyleValues()) {
    const JsonValue object = parts.Value(absl::StrCat(R"({"v":)", value, "}"));
    const std::optional<std::string> text = write(object);
    if (!text.has_value()) continue;
    texts.insert(*text);
    bool is_valid = validator.Validates(value, validator.Holds(""));
    for (const std::string& excluded : use.excludes)
      is_valid = is_valid && !HoldsText(object, excluded);
    if (is_valid) valid.insert(*text);
  }
  for (const std::string& text : texts)
    EXPECT_EQ(recognizer.Accepts(text), valid.contains(text)) << text;
}

}  // namespace maskd

#endif  // MASKD_TESTS_STRUCTURAL_TAG_STYLE_SCHEMAS_H_
