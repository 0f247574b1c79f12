// What a provider refuses are tables of keywords and sizes, and a few rules that need more than a
// keyword. One pass over all subschemas for each rule adds a finding with its place and a fix.
//
// Invariant  a finding's place is the pointer of what is to be changed.
// Cost       linear in the subschemas for each rule; references are followed from each $ref once
//            more.
// Source     the providers' pages on structured outputs, see provider_rules.h.
#include "tools/cli/lint/provider_rules.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;

// A keyword that a provider refuses, and what to do about it.
struct RefusedKeyword {
  const char* name;
  const char* fix;
};

constexpr char kDescribe[] = "remove it, say it in \"description\", and validate afterwards";
constexpr char kMerge[] = "merge its schemas into one";
constexpr char kBranch[] = "write the cases as branches of \"anyOf\"";

constexpr RefusedKeyword kOpenAi[] = {
    {"allOf", kMerge},
    {"not", kDescribe},
    {"dependentRequired", kBranch},
    {"dependentSchemas", kBranch},
    {"if", kBranch},
    {"then", kBranch},
    {"else", kBranch},
};

constexpr RefusedKeyword kAnthropic[] = {
    {"minimum", kDescribe},
    {"maximum", kDescribe},
    {"exclusiveMinimum", kDescribe},
    {"exclusiveMaximum", kDescribe},
    {"multipleOf", kDescribe},
    {"minLength", kDescribe},
    {"maxLength", kDescribe},
    {"maxItems", kDescribe},
    {"uniqueItems", kDescribe},
    {"contains", kDescribe},
    {"minProperties", kDescribe},
    {"maxProperties", kDescribe},
    {"patternProperties", kDescribe},
    {"propertyNames", kDescribe},
    {"not", kDescribe},
    {"oneOf", "use \"anyOf\""},
    {"if", kBranch},
    {"then", kBranch},
    {"else", kBranch},
    {"dependentRequired", kBranch},
    {"dependentSchemas", kBranch},
    {"prefixItems", "use an object with named members"},
};

constexpr std::size_t kOpenAiProperties = 5'000;
constexpr int kOpenAiDepth = 10;
constexpr std::size_t kOpenAiEnumValues = 1'000;
constexpr std::size_t kOpenAiTextBytes = 120'000;
constexpr std::size_t kAnthropicOptional = 24;
constexpr std::size_t kAnthropicUnions = 16;

class Inspection {
 public:
  Inspection(absl::string_view provider, const Subschemas& schemas, Severity severity,
             std::vector<Finding>* findings)
      : provider_(provider), schemas_(schemas), severity_(severity), findings_(*findings) {}

  void RefuseKeywords(std::span<const RefusedKeyword> keywords) {
    for (const Subschema& schema : schemas_.all) {
      for (const RefusedKeyword& keyword : keywords) {
        if (FindMember(*schema.json, keyword.name) == nullptr) continue;
        Add("keyword", ChildPlace(schema.place, keyword.name),
            absl::StrCat("\"", keyword.name, "\" is not supported"), keyword.fix);
      }
    }
  }

  void WantClosedObjects() {
    for (const Subschema& schema : schemas_.all) {
      if (!IsObject(*schema.json)) continue;
      const Json* const more = FindMember(*schema.json, "additionalProperties");
      if (more != nullptr && more->is_boolean() && !more->get<bool>()) continue;
      Add("open-object", schema.place, "an object must exclude other members",
          "add \"additionalProperties\": false");
    }
  }

  // Calls visit(place of the member, its name) for each member that is not required.
  template <typename Visit>
  void ForEachOptional(Visit visit) {
    for (const Subschema& schema : schemas_.all) {
      const Json* const properties = FindMember(*schema.json, "properties");
      if (properties == nullptr || !properties->is_object()) continue;
      const Json* const required = FindMember(*schema.json, "required");
      for (const auto& [name, unused] : properties->items()) {
        const bool is_required = required != nullptr && ListHas(*required, name);
        if (!is_required) visit(ChildPlace(ChildPlace(schema.place, "properties"), name), name);
      }
    }
  }

  void WantAllRequired() {
    ForEachOptional([&](const std::string& place, const std::string& name) {
      Add("optional-member", place, absl::StrCat("\"", name, "\" is not required"),
          absl::StrCat("add \"", name, "\" to \"required\", and null to its types"));
    });
  }

  void WantObjectRoot() {
    const Subschema& root = schemas_.all.front();
    if (FindMember(*root.json, "anyOf") != nullptr) {
      Add("root", ChildPlace(root.place, "anyOf"), "the root may not be a choice",
          "put the choice into a member of an object");
    } else if (!HasType(*root.json, "object")) {
      Add("root", root.place, "the root must be an object", "put the value into a member of one");
    }
  }

  void BoundOpenAiSizes() {
    std::size_t properties = 0;
    std::size_t values = 0;
    std::size_t bytes = 0;
    int depth = 0;
    for (const Subschema& schema : schemas_.all) {
      depth = std::max(depth, schema.depth);
      if (const Json* const list = FindMember(*schema.json, "enum"); list != nullptr) {
        values += list->size();
        for (const Json& value : *list)
          bytes += value.is_string() ? value.get_ref<const std::string&>().size() : 0;
      }
      const Json* const members = FindMember(*schema.json, "properties");
      if (members == nullptr || !members->is_object()) continue;
      properties += members->size();
      for (const auto& [name, unused] : members->items()) bytes += name.size();
    }
    Bound("members", properties, kOpenAiProperties);
    Bound("levels of objects", static_cast<std::size_t>(depth), kOpenAiDepth);
    Bound("values of enum", values, kOpenAiEnumValues);
    Bound("bytes of names and values", bytes, kOpenAiTextBytes);
  }

  void BoundAnthropicSizes() {
    std::size_t optional = 0;
    ForEachOptional([&](const std::string&, const std::string&) { ++optional; });
    std::size_t unions = 0;
    for (const Subschema& schema : schemas_.all) {
      const Json* const type = FindMember(*schema.json, "type");
      unions +=
          FindMember(*schema.json, "anyOf") != nullptr || (type != nullptr && type->is_array());
    }
    Bound("optional members", optional, kAnthropicOptional);
    Bound("members of more than one type", unions, kAnthropicUnions);
  }

  // minItems is supported as 0 and 1, enum with plain values, and $ref within the document.
  void RefuseAnthropicValues() {
    for (const Subschema& schema : schemas_.all) {
      const Json* const least = FindMember(*schema.json, "minItems");
      if (least != nullptr && *least != 0 && *least != 1) {
        Add("keyword", ChildPlace(schema.place, "minItems"), "\"minItems\" may be 0 or 1",
            kDescribe);
      }
      const Json* const values = FindMember(*schema.json, "enum");
      const auto is_plain = [](const Json& value) { return value.is_primitive(); };
      if (values != nullptr && !std::all_of(values->begin(), values->end(), is_plain)) {
        Add("keyword", ChildPlace(schema.place, "enum"), "\"enum\" may have no arrays and objects",
            "use \"anyOf\" with a schema for each");
      }
    }
  }

  // A reference that leads to a place which holds it.
  void RefuseRecursion() {
    for (const Subschema& schema : schemas_.all) {
      const Json* const reference = FindMember(*schema.json, "$ref");
      if (reference == nullptr || !reference->is_string()) continue;
      const std::string target = reference->get<std::string>();
      const std::string place = ChildPlace(schema.place, "$ref");
      if (!absl::StartsWith(target, "#")) {
        Add("reference", place, "a reference may not leave the document", "copy it into \"$defs\"");
      } else if (Leads(target.substr(1), schema.place)) {
        Add("recursion", place, "a schema may not refer to itself",
            "write out as many levels as are needed");
      }
    }
  }

 private:
  static bool IsObject(const Json& schema) {
    return HasType(schema, "object") || FindMember(schema, "properties") != nullptr;
  }

  static bool IsWithin(const std::string& place, const std::string& holder) {
    return place == holder || absl::StartsWith(place, absl::StrCat(holder, "/"));
  }

  // Whether references lead from `from` to a place that holds `to`.
  bool Leads(const std::string& from, const std::string& to) const {
    std::vector<std::string> open = {from};
    absl::flat_hash_set<std::string> seen;
    while (!open.empty()) {
      const std::string at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      if (IsWithin(to, at)) return true;
      for (const Subschema& schema : schemas_.all) {
        const Json* const next = FindMember(*schema.json, "$ref");
        const bool is_inside = next != nullptr && next->is_string() && IsWithin(schema.place, at);
        if (is_inside) open.push_back(next->get<std::string>().substr(1));
      }
    }
    return false;
  }

  void Bound(absl::string_view what, std::size_t count, std::size_t most) {
    if (count <= most) return;
    Add("size", schemas_.all.front().place,
        absl::StrCat("the schema has ", count, " ", what, ", at most ", most, " are allowed"),
        "split the schema");
  }

  void Add(absl::string_view rule, const std::string& place, const std::string& message,
           const std::string& fix) {
    findings_.push_back({severity_, absl::StrCat(provider_, "-", rule), place,
                         absl::StrCat(provider_, ": ", message), fix});
  }

  const absl::string_view provider_;
  const Subschemas& schemas_;
  const Severity severity_;
  std::vector<Finding>& findings_;
};

}  // namespace

void FindRefusals(absl::string_view provider, const Subschemas& schemas, Severity severity,
                  std::vector<Finding>* findings) {
  if (schemas.all.empty()) return;
  Inspection inspection(provider, schemas, severity, findings);
  inspection.WantClosedObjects();
  if (provider == "openai") {
    inspection.WantObjectRoot();
    inspection.WantAllRequired();
    inspection.RefuseKeywords(kOpenAi);
    inspection.BoundOpenAiSizes();
  } else {
    inspection.RefuseKeywords(kAnthropic);
    inspection.RefuseAnthropicValues();
    inspection.RefuseRecursion();
    inspection.BoundAnthropicSizes();
  }
}

}  // namespace maskd::cli
