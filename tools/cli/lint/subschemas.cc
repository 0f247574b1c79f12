#include "tools/cli/lint/subschemas.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;

// Keywords whose value is a schema, a list of schemas, or schemas by name.
constexpr std::array kOne = {"additionalProperties",
                             "propertyNames",
                             "unevaluatedProperties",
                             "additionalItems",
                             "unevaluatedItems",
                             "contains",
                             "not",
                             "if",
                             "then",
                             "else"};
constexpr std::array kLists = {"allOf", "anyOf", "oneOf", "prefixItems"};
constexpr std::array kMaps = {"properties", "patternProperties", "dependentSchemas", "$defs",
                              "definitions"};

class Walk {
 public:
  explicit Walk(Subschemas* found) : found_(*found) {}

  void Add(const std::string& place, const Json& json, int depth) {
    if (!json.is_object() && !json.is_boolean()) return;
    if (found_.all.size() == kMostSubschemas) {
      found_.is_complete = false;
      return;
    }
    found_.all.push_back({place, &json, depth});
  }

  void AddList(const std::string& place, const Json& list, int depth) {
    for (std::size_t i = 0; i < list.size(); ++i)
      Add(ChildPlace(place, absl::StrCat(i)), list[i], depth);
  }

  void AddChildren(const Subschema& schema) {
    if (!schema.json->is_object()) return;
    for (const char* name : kOne)
      if (const Json* const json = FindMember(*schema.json, name); json != nullptr)
        Add(ChildPlace(schema.place, name), *json, schema.depth);
    if (const Json* const items = FindMember(*schema.json, "items"); items != nullptr) {
      const std::string place = ChildPlace(schema.place, "items");
      items->is_array() ? AddList(place, *items, schema.depth) : Add(place, *items, schema.depth);
    }
    for (const char* name : kLists) {
      const Json* const json = FindMember(*schema.json, name);
      if (json == nullptr || !json->is_array()) continue;
      AddList(ChildPlace(schema.place, name), *json, schema.depth);
    }
    for (const char* name : kMaps) AddMap(schema, name);
  }

 private:
  void AddMap(const Subschema& schema, const char* name) {
    const Json* const map = FindMember(*schema.json, name);
    if (map == nullptr || !map->is_object()) return;
    const int depth = schema.depth + (absl::string_view(name) == "properties" ? 1 : 0);
    for (const auto& [member, json] : map->items())
      Add(ChildPlace(ChildPlace(schema.place, name), member), json, depth);
  }

  Subschemas& found_;
};

}  // namespace

std::string ChildPlace(const std::string& place, absl::string_view name) {
  return absl::StrCat(place, "/", absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}}));
}

const Json* FindMember(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

bool ListHas(const Json& list, const std::string& text) {
  return list.is_array() &&
         std::any_of(list.begin(), list.end(), [&](const Json& each) { return each == text; });
}

bool HasType(const Json& schema, absl::string_view type) {
  const Json* const said = FindMember(schema, "type");
  if (said == nullptr) return false;
  const std::string wanted(type);
  return *said == wanted || ListHas(*said, wanted);
}

Subschemas FindSubschemas(const Json& root, const std::string& place) {
  Subschemas found;
  Walk walk(&found);
  walk.Add(place, root, 0);
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    const Subschema schema = found.all[i];
    walk.AddChildren(schema);
  }
  return found;
}

}  // namespace maskd::cli
