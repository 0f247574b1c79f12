// One schema, read as far as the rooms logic and rules take it, and values to hold against it.
#ifndef MASKD_TESTS_JSON_SCHEMA_LOGIC_SCHEMA_PARTS_H_
#define MASKD_TESTS_JSON_SCHEMA_LOGIC_SCHEMA_PARTS_H_

#include <charconv>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"
#include "grammar_core/frontend/json_schema/logic/contradiction.h"
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"
#include "grammar_core/frontend/json_schema/logic/string_facets.h"
#include "grammar_core/frontend/json_schema/logic/value_check.h"
#include "grammar_core/frontend/json_schema/reading/schema_set.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// The schemas of `text`, which must be good; it is copied.
inline SchemaSet LoadSchemas(absl::string_view text, const Limits& limits, Budget& budget) {
  static const auto* const none = new std::vector<GrammarSource::Document>;
  std::vector<Diagnostic> warnings;
  JsonDocument document = *JsonDocument::Parse(text, limits);
  const Dialect dialect = *ReadDialect(document.root(), *none, limits, &warnings);
  SchemaResources resources(std::move(document), *none, dialect, limits, budget);
  return *SchemaSet::Load(std::move(resources), dialect, Formats::kByDraft, budget);
}

// What a compilation has at hand, each part by its name.
struct SchemaParts {
  // What was handed to Refuse.
  struct Refused {
    std::string place;
    absl::Status error;
  };

  Limits limits;
  Budget budget;
  SchemaSet schemas;
  IrBuilder builder;
  StringFacets strings;
  ClaimLogic logic;
  std::vector<Refused> refused;
  ValueChecker checker;
  Contradiction contradiction;
  ChoiceReducer choices;
  std::deque<JsonDocument> values;

  explicit SchemaParts(absl::string_view text, const Limits& its_limits = {},
                       const Budget& its_budget = Budget::Unlimited())
      : limits(its_limits),
        budget(its_budget),
        schemas(LoadSchemas(text, limits, budget)),
        builder(limits),
        strings(limits, budget, builder),
        logic(schemas, budget),
        checker(logic, limits, budget, strings,
                [this](const JsonValue& at, const absl::Status& error) {
                  refused.push_back({at.Pointer(), error});
                }),
        contradiction(logic, checker, budget),
        choices(logic, contradiction, budget) {}
  SchemaParts(const SchemaParts&) = delete;
  SchemaParts& operator=(const SchemaParts&) = delete;

  // The node at a JSON Pointer without escapes.
  [[nodiscard]] JsonValue At(absl::string_view pointer) const {
    JsonValue at = schemas.root();
    if (pointer.empty()) return at;
    for (const absl::string_view key : absl::StrSplit(pointer.substr(1), '/')) {
      std::uint32_t index = 0;
      std::from_chars(key.data(), key.data() + key.size(), index);
      at = at.is_array() ? at.Nth(index).value() : at.Find(key).value();
    }
    return at;
  }
  [[nodiscard]] Claim Holds(absl::string_view pointer) const {
    return SchemaHolds(At(pointer).id());
  }
  [[nodiscard]] Claim Fails(absl::string_view pointer) const {
    return SchemaFails(At(pointer).id());
  }
  // That the keyword at `pointer` is violated, or holds.
  [[nodiscard]] Claim Of(Keyword keyword, absl::string_view pointer, bool negated) const {
    return {.kind = Claim::Kind::kKeyword,
            .negated = negated,
            .keyword = keyword,
            .at = At(pointer).id()};
  }
  // All that the root schema says.
  [[nodiscard]] Conjunction All() { return logic.Expand({Holds("")}); }
  [[nodiscard]] MergedSchema MergedRoot() { return Merge(logic, All()); }

  // The JSON text as a value, which lives as long as this.
  JsonValue Value(absl::string_view json) {
    values.push_back(*JsonDocument::Parse(json, limits));
    return values.back().root();
  }
  [[nodiscard]] bool Fits(absl::string_view json, const Conjunction& all) {
    return *checker.Fits(Value(json), all, Merge(logic, all));
  }
  [[nodiscard]] bool Fits(absl::string_view json, const std::vector<Claim>& claims) {
    return Fits(json, logic.Expand(claims));
  }
  // By the validator alone: the claim is not taken apart.
  [[nodiscard]] bool Validates(absl::string_view json, const Claim& claim) {
    Conjunction all;
    all.choices = {claim};
    return Fits(json, all);
  }
};

// Small values of every type.
inline const std::vector<std::string>& SmallValues() {
  static const auto* const values = new std::vector<std::string>{"null",
                                                                 "true",
                                                                 "false",
                                                                 "0",
                                                                 "1",
                                                                 "2",
                                                                 "1.5",
                                                                 "-3",
                                                                 R"("")",
                                                                 R"("a")",
                                                                 R"("ab")",
                                                                 R"("abc")",
                                                                 "[]",
                                                                 "[1]",
                                                                 R"(["a"])",
                                                                 "[1,1]",
                                                                 R"(["a",2])",
                                                                 R"([2,"a"])",
                                                                 "[1,2,3]",
                                                                 "{}",
                                                                 R"({"a":1})",
                                                                 R"({"a":"x"})",
                                                                 R"({"b":1})",
                                                                 R"({"a":1,"b":2})",
                                                                 R"({"c":true})",
                                                                 R"({"ab":"x"})",
                                                                 R"({"b":"x","c":1})",
                                                                 R"({"a":"x","b":1,"c":null})"};
  return *values;
}

struct NamedSchema {
  const char* name;
  const char* schema;
};

// Schemas with each way to combine others, for properties that hold for all of them.
inline const std::vector<NamedSchema>& CombinedSchemas() {
  static const auto* const schemas = new std::vector<NamedSchema>{
      {"Everything", "true"},
      {"Nothing", "false"},
      {"Bounds", R"({"minimum":1,"maxLength":2,"minItems":2,"maxProperties":1})"},
      {"AllOf", R"({"allOf":[{"type":["integer","string","object"]},{"minLength":1}]})"},
      {"AnyOf", R"({"anyOf":[{"type":"integer"},{"minLength":2,"type":"string"}]})"},
      {"OneOf", R"({"oneOf":[{"type":"number"},{"minimum":1},{"const":"a"}]})"},
      {"Not", R"({"not":{"type":["number","object"],"minimum":1,"required":["a"]}})"},
      {"NotAnyOf", R"({"not":{"anyOf":[{"type":"null"},{"minLength":2}]}})"},
      {"NotOneOf", R"({"not":{"oneOf":[{"type":"number"},{"minimum":1},{"maximum":1}]}})"},
      {"IfThenElse", R"({"if":{"type":"number"},"then":{"minimum":1},"else":{"minItems":1}})"},
      {"IfThen", R"({"if":{"required":["a"]},"then":{"required":["b"]}})"},
      {"NotIf", R"({"not":{"if":{"type":"number"},"else":{"type":"string"}}})"},
      {"Ref", R"({"$ref":"#/$defs/x","$defs":{"x":{"anyOf":[{"const":1},{"required":["b"]}]}}})"},
      {"Listed", R"({"enum":[1,"a",{"a":1},[1],null]})"},
      {"NotListed", R"({"not":{"enum":[1.0,"a",{"b":2,"a":1},[1],null]}})"},
      {"Items", R"({"prefixItems":[{"type":"integer"}],"items":{"type":"string"}})"},
      {"NotItems", R"({"not":{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}})"},
      {"Contains", R"({"contains":{"const":1},"minContains":1,"maxContains":1})"},
      {"Members", R"({"properties":{"a":{"type":"integer"}},"patternProperties":
          {"b$":{"type":"string"}},"additionalProperties":{"type":"boolean"}})"},
      {"NotMembers", R"({"not":{"properties":{"a":{"type":"integer"}},"patternProperties":
          {"b$":{"type":"string"}},"additionalProperties":{"type":"boolean"}}})"},
      {"Names", R"({"propertyNames":{"maxLength":1},"minProperties":1})"},
      {"NotNames", R"({"not":{"propertyNames":{"maxLength":1}}})"},
      {"Dependent", R"({"dependentRequired":{"a":["b"]},
          "dependentSchemas":{"b":{"properties":{"b":{"type":"integer"}}}}})"},
      {"NotDependent", R"({"not":{"dependentRequired":{"a":["b"]},
          "dependentSchemas":{"b":{"properties":{"b":{"type":"integer"}}}}}})"},
      {"Deep", R"({"allOf":[{"anyOf":[{"oneOf":[{"type":"array"},{"minItems":2}]},
          {"not":{"not":{"required":["a"]}}}]},{"not":{"const":{"a":1}}}]})"},
  };
  return *schemas;
}

}  // namespace maskd

#endif  // MASKD_TESTS_JSON_SCHEMA_LOGIC_SCHEMA_PARTS_H_
