// A set of subschemas that walks along the path of the text. Entering a member or an item replaces
// each subschema by those it has for that member or item; what stands beside a subschema ($ref,
// allOf, anyOf, oneOf, then, else) is added with it.
//
// Invariant  a subschema is in the set once, by its pointer, so a circle of $refs ends.
// Cost       each step of the path looks at kMostSchemas subschemas at most.

#include "reasons/schema_rules.h"

#include <algorithm>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <re2/re2.h>

namespace maskd::reasons {
namespace {

using Json = nlohmann::ordered_json;
using What = JsonPosition::What;

// Bytes of a rule's value that are shown.
constexpr std::size_t kMostSaid = 80;

// A subschema with its place.
struct Schema {
  std::string pointer;
  const Json* json;
};

std::string Child(const std::string& pointer, absl::string_view name) {
  return absl::StrCat(pointer, "/", absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}}));
}

const Json* Member(const Json& json, const std::string& name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

class Walk {
 public:
  Walk(const Json& root, const std::string& pointer) : root_(root) {
    const Json::json_pointer at(pointer);
    if (root.contains(at)) Add({pointer, &root.at(at)});
  }

  // Moves on to what the schemas say about one member or item.
  void Enter(const JsonStep& step) {
    const std::vector<Schema> from = std::move(schemas_);
    schemas_.clear();
    seen_.clear();
    for (const Schema& schema : from)
      step.is_item ? EnterItem(schema, step.index) : EnterMember(schema, step.name);
  }

  [[nodiscard]] const std::vector<Schema>& schemas() const { return schemas_; }
  // A walk of the same source that begins elsewhere.
  [[nodiscard]] Walk Other(const std::string& pointer) const { return {root_, pointer}; }

 private:
  // A subschema, and those that hold for the same value beside it.
  void Add(const Schema& schema) {
    if (schemas_.size() >= kMostSchemas || !seen_.insert(schema.pointer).second) return;
    schemas_.push_back(schema);
    AddReferred(schema);
    for (const char* name : {"allOf", "anyOf", "oneOf"}) {
      const Json* const list = Member(*schema.json, name);
      if (list == nullptr || !list->is_array()) continue;
      for (std::size_t i = 0; i < list->size(); ++i)
        Add({Child(Child(schema.pointer, name), absl::StrCat(i)), &(*list)[i]});
    }
    for (const char* name : {"then", "else"}) AddMember(schema, name);
  }

  void AddMember(const Schema& schema, const std::string& name) {
    const Json* const json = Member(*schema.json, name);
    if (json != nullptr) Add({Child(schema.pointer, name), json});
  }

  void AddReferred(const Schema& schema) {
    const Json* const reference = Member(*schema.json, "$ref");
    if (reference == nullptr || !reference->is_string()) return;
    const std::string target = reference->get<std::string>();
    if (target != "#" && !absl::StartsWith(target, "#/")) return;
    const std::string pointer = target.substr(1);
    if (pointer.find('%') != std::string::npos) return;
    const Json* json = &root_;
    for (std::size_t at = 1; json != nullptr && at <= pointer.size() && !pointer.empty();) {
      const std::size_t end = std::min(pointer.find('/', at), pointer.size());
      json = Resolve(*json, pointer.substr(at, end - at));
      at = end + 1;
    }
    if (json != nullptr) Add({pointer, json});
  }

  static const Json* Resolve(const Json& json, const std::string& token) {
    const std::string name = absl::StrReplaceAll(token, {{"~1", "/"}, {"~0", "~"}});
    if (!json.is_array()) return Member(json, name);
    const bool is_index = !name.empty() && name.size() < 9 &&
                          name.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t index = is_index ? std::stoul(name) : json.size();
    return index < json.size() ? &json[index] : nullptr;
  }

  void EnterMember(const Schema& schema, const std::string& name) {
    bool is_named = false;
    if (const Json* const list = Member(*schema.json, "properties"); list != nullptr) {
      if (const Json* const json = Member(*list, name); json != nullptr) {
        Add({Child(Child(schema.pointer, "properties"), name), json});
        is_named = true;
      }
    }
    is_named = EnterPatterns(schema, name) || is_named;
    if (!is_named) AddMember(schema, "additionalProperties");
    if (!is_named) AddMember(schema, "unevaluatedProperties");
  }

  // Whether a pattern of patternProperties fits the name.
  bool EnterPatterns(const Schema& schema, const std::string& name) {
    const Json* const patterns = Member(*schema.json, "patternProperties");
    if (patterns == nullptr || !patterns->is_object()) return false;
    bool fits = false;
    for (const auto& [pattern, json] : patterns->items()) {
      if (!RE2::PartialMatch(name, RE2(pattern, RE2::Quiet))) continue;
      Add({Child(Child(schema.pointer, "patternProperties"), pattern), &json});
      fits = true;
    }
    return fits;
  }

  void EnterItem(const Schema& schema, std::int64_t index) {
    const Json* const items = Member(*schema.json, "items");
    const bool is_old = items != nullptr && items->is_array();
    const std::string name = is_old ? "items" : "prefixItems";
    const Json* const list = is_old ? items : Member(*schema.json, "prefixItems");
    const auto at = static_cast<std::size_t>(index);
    if (list != nullptr && list->is_array() && at < list->size())
      return Add({Child(Child(schema.pointer, name), absl::StrCat(at)), &(*list)[at]});
    AddMember(schema, is_old ? "additionalItems" : "items");
    AddMember(schema, "unevaluatedItems");
  }

  const Json& root_;
  std::vector<Schema> schemas_;
  absl::flat_hash_set<std::string> seen_;
};

// The keywords that speak about a place of this sort.
std::vector<const char*> KeywordsOf(const JsonPosition& position) {
  switch (position.what) {
    case What::kValue:
      return {"const", "enum", "type"};
    case What::kString:
      return {"const", "enum", "pattern", "format", "maxLength", "minLength", "type"};
    case What::kLiteral:
      return {
          "const",           "enum", "type", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
          "exclusiveMinimum"};
    case What::kName:
      return {"properties", "patternProperties", "additionalProperties", "propertyNames",
              "required",   "maxProperties",     "dependentRequired",    "unevaluatedProperties"};
    case What::kColon:
      return {};
    case What::kAfterValue:
      if (position.at_root) return {};
      if (position.holder_is_array) {
        return {"minItems", "maxItems", "uniqueItems", "prefixItems",
                "items",    "contains", "minContains", "maxContains"};
      }
      return {"required",   "minProperties",        "maxProperties",
              "properties", "additionalProperties", "dependentRequired"};
  }
  return {};
}

// What a keyword says, in one short line.
std::string Says(const std::string& keyword, const Json& value) {
  if (keyword == "properties" || keyword == "patternProperties") {
    std::string names;
    for (const auto& [name, unused] : value.items()) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
      if (names.size() > kMostSaid) break;
    }
    return absl::StrCat(keyword, ": ", names.substr(0, kMostSaid));
  }
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool is_long = text.size() > kMostSaid;
  return absl::StrCat(keyword, ": ", text.substr(0, kMostSaid), is_long ? " ..." : "");
}

// Those of a keyword.
std::vector<SchemaPattern> PatternsOf(absl::string_view keyword, const std::string& place,
                                      const Json& value) {
  std::vector<SchemaPattern> patterns;
  if (keyword == "pattern" && value.is_string())
    patterns.push_back({.place = place, .text = value.get<std::string>()});
  if (keyword != "patternProperties" || !value.is_object()) return patterns;
  for (const auto& [name, unused] : value.items())
    patterns.push_back({.place = Child(place, name), .is_name = true, .text = name});
  return patterns;
}

void AddRules(const Walk& walk, const JsonPosition& position, std::vector<SchemaRule>* rules);

// Of propertyNames, in a name: the keywords about it. False where there are none.
bool AddRulesOfNames(const Walk& walk, absl::string_view keyword, const std::string& place,
                     const JsonPosition& position, std::vector<SchemaRule>* rules) {
  if (keyword != "propertyNames" || !position.open_string.has_value()) return false;
  const std::size_t before = rules->size();
  const JsonPosition name = {.what = What::kString, .open_string = position.open_string};
  AddRules(walk.Other(place), name, rules);
  return rules->size() > before;
}

// What the schemas of `walk` say about the place.
void AddRules(const Walk& walk, const JsonPosition& position, std::vector<SchemaRule>* rules) {
  for (const Schema& schema : walk.schemas()) {
    if (schema.json->is_boolean()) {
      rules->push_back({schema.pointer, schema.json->dump()});
      continue;
    }
    for (const char* keyword : KeywordsOf(position)) {
      const Json* const value = Member(*schema.json, keyword);
      if (value == nullptr || rules->size() >= kMostRules) continue;
      std::string place = Child(schema.pointer, keyword);
      if (AddRulesOfNames(walk, keyword, place, position, rules)) continue;
      std::vector<SchemaPattern> patterns;
      if (position.open_string.has_value()) patterns = PatternsOf(keyword, place, *value);
      rules->push_back({std::move(place), Says(keyword, *value), std::move(patterns)});
    }
  }
}

}  // namespace

std::vector<SchemaRule> FindRules(const Json& root, const std::string& schema_pointer,
                                  const JsonPosition& position) {
  Walk walk(root, schema_pointer);
  for (const JsonStep& step : position.path) walk.Enter(step);
  std::vector<SchemaRule> rules;
  AddRules(walk, position, &rules);
  if (rules.size() > kMostRules) rules.resize(kMostRules);
  return rules;
}

}  // namespace maskd::reasons
