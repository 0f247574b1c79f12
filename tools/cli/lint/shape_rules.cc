#include "tools/cli/lint/shape_rules.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "absl/strings/str_cat.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;

bool HasAny(const Json& schema, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names,
                             [&](const char* name) { return FindMember(schema, name) != nullptr; });
}

bool IsFalse(const Json* json) {
  return json != nullptr && json->is_boolean() && !json->get<bool>();
}

void FindOpenPlace(const Subschema& schema, std::vector<Finding>* findings) {
  const Json& json = *schema.json;
  if (HasAny(json, {"enum", "const", "$ref", "allOf"})) return;
  const auto add = [&](const char* rule, const char* message, const char* fix) {
    findings->push_back({Severity::kNote, rule, schema.place, message, fix});
  };
  if (HasType(json, "string") && !HasAny(json, {"maxLength", "pattern", "format"}))
    add("open-string", "the string may be of any length", "add \"maxLength\"");
  if (HasType(json, "array") && !HasAny(json, {"maxItems"}) &&
      !(HasAny(json, {"prefixItems"}) && IsFalse(FindMember(json, "items")))) {
    add("open-array", "the array may have any number of items", "add \"maxItems\"");
  }
  if (HasType(json, "object") && !HasAny(json, {"maxProperties", "unevaluatedProperties"}) &&
      !IsFalse(FindMember(json, "additionalProperties"))) {
    add("open-object", "the object may have any other members",
        "add \"additionalProperties\": false");
  }
}

const char* TypeOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "boolean";
    case Json::value_t::string:
      return "string";
    case Json::value_t::array:
      return "array";
    case Json::value_t::object:
      return "object";
    default:
      return "number";
  }
}

bool FitsType(const Json& schema, const Json& value) {
  if (FindMember(schema, "type") == nullptr) return true;
  const std::string type = TypeOf(value);
  if (HasType(schema, type)) return true;
  const bool is_whole = type == "number" && std::trunc(value.get<double>()) == value.get<double>();
  return is_whole && HasType(schema, "integer");
}

void FindWrongValues(const Subschema& schema, std::vector<Finding>* findings) {
  const Json& json = *schema.json;
  const auto add = [&](const std::string& place) {
    findings->push_back({Severity::kWarning, "dead-value", place,
                         "\"type\" beside it excludes the value",
                         "remove it, or correct \"type\""});
  };
  if (const Json* const value = FindMember(json, "const"); value != nullptr) {
    if (!FitsType(json, *value)) add(ChildPlace(schema.place, "const"));
  }
  const Json* const values = FindMember(json, "enum");
  if (values == nullptr || !values->is_array()) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (FitsType(json, (*values)[i])) continue;
    add(ChildPlace(ChildPlace(schema.place, "enum"), absl::StrCat(i)));
  }
}

void FindExcludedNames(const Subschema& schema, std::vector<Finding>* findings) {
  const Json& json = *schema.json;
  const Json* const required = FindMember(json, "required");
  if (required == nullptr || !required->is_array()) return;
  if (!IsFalse(FindMember(json, "additionalProperties")) || HasAny(json, {"patternProperties"}))
    return;
  const Json* const properties = FindMember(json, "properties");
  for (std::size_t i = 0; i < required->size(); ++i) {
    const Json& name = (*required)[i];
    if (!name.is_string()) continue;
    const std::string text = name.get<std::string>();
    if (properties != nullptr && properties->contains(text)) continue;
    findings->push_back({Severity::kError, "excluded-name",
                         ChildPlace(ChildPlace(schema.place, "required"), absl::StrCat(i)),
                         absl::StrCat("\"", text, "\" is required, and no object may have it"),
                         absl::StrCat("add \"", text, "\" to \"properties\", or remove it here")});
  }
}

void FindFalseMembers(const Subschema& schema, std::vector<Finding>* findings) {
  const Json* const properties = FindMember(*schema.json, "properties");
  if (properties == nullptr || !properties->is_object()) return;
  for (const auto& [name, json] : properties->items()) {
    if (!IsFalse(&json)) continue;
    findings->push_back({Severity::kWarning, "dead-member",
                         ChildPlace(ChildPlace(schema.place, "properties"), name),
                         "no text has this member: its schema is false", "remove it"});
  }
}

}  // namespace

void FindOpenPlaces(const Subschemas& schemas, std::vector<Finding>* findings) {
  for (const Subschema& schema : schemas.all)
    if (schema.json->is_object()) FindOpenPlace(schema, findings);
}

void FindDeadValues(const Subschemas& schemas, std::vector<Finding>* findings) {
  for (const Subschema& schema : schemas.all) {
    if (!schema.json->is_object()) continue;
    FindWrongValues(schema, findings);
    FindExcludedNames(schema, findings);
    FindFalseMembers(schema, findings);
  }
}

}  // namespace maskd::cli
