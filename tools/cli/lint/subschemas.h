// The subschemas of a JSON schema, each with its place.
//
// Bounds   kMostSubschemas; those beyond are left out, and `is_complete` says so. The walk takes no
//          stack.
// Threads  plain values; they point into the schema.
#ifndef MASKD_TOOLS_CLI_LINT_SUBSCHEMAS_H_
#define MASKD_TOOLS_CLI_LINT_SUBSCHEMAS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace maskd::cli {

inline constexpr std::size_t kMostSubschemas = 20'000;

// One of them; the root has depth 0.
struct Subschema {
  std::string place;  // JSON Pointer
  const nlohmann::ordered_json* json = nullptr;
  int depth = 0;  // objects that hold it by a member
};

// Parents stand before their children.
struct Subschemas {
  std::vector<Subschema> all;
  bool is_complete = true;
};

// `root` stands at `place` in its source.
Subschemas FindSubschemas(const nlohmann::ordered_json& root, const std::string& place);

// A child's JSON Pointer.
std::string ChildPlace(const std::string& place, absl::string_view name);

// The member, or null.
const nlohmann::ordered_json* FindMember(const nlohmann::ordered_json& json, const char* name);

// Whether a list has the text.
bool ListHas(const nlohmann::ordered_json& list, const std::string& text);

// Whether "type" is `type`, or a list that has it.
bool HasType(const nlohmann::ordered_json& schema, absl::string_view type);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_LINT_SUBSCHEMAS_H_
