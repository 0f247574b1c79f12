// Works through the document in the order of its text with a stack of its own, not by recursion: a
// stack entry is an array or object that is open, and what the values in it are.
#include "grammar_core/frontend/chat/plain_schema.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace maskd {
namespace {

enum class Holds : std::uint8_t {
  kSchema,   // it is a schema, or something else in a schema's place
  kSchemas,  // each value in it is a schema
};

// What the value of a keyword is; of others it is a value that stays as it is.
enum class Keyword : std::uint8_t { kSchema, kSchemas, kText, kExamples };

using Keywords = absl::flat_hash_map<absl::string_view, Keyword>;

const Keywords& KnownKeywords() {
  static const auto* const known = [] {
    auto* const rows = new Keywords{{"title", Keyword::kText},
                                    {"description", Keyword::kText},
                                    {"$comment", Keyword::kText},
                                    {"examples", Keyword::kExamples}};
    for (const absl::string_view key :
         {"items", "additionalItems", "additionalProperties", "unevaluatedItems", "contains",
          "propertyNames", "unevaluatedProperties", "contentSchema", "not", "if", "then", "else"}) {
      rows->emplace(key, Keyword::kSchema);
    }
    for (const absl::string_view key :
         {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
          "dependencies", "allOf", "anyOf", "oneOf", "prefixItems"}) {
      rows->emplace(key, Keyword::kSchemas);
    }
    return rows;
  }();
  return *known;
}

// Whether a schema in `root` may stand among examples: a reference leads there.
bool RefersToExamples(const JsonValue& root) {
  for (JsonId id = root.id(); id < root.subtree_end(); ++id) {
    const JsonValue at = root.at(id);
    const bool is_reference = at.is_string() && absl::StartsWith(at.key(), "$");
    if (is_reference && absl::StrContains(at.text(), "/examples/")) return true;
  }
  return false;
}

class Writer {
 public:
  std::string Write(const JsonValue& root) {
    root_ = root.id();
    if (root.is_object()) out_.reserve(root.source().size());
    Open(root, Holds::kSchema);
    while (!open_.empty()) {
      Level& level = open_.back();
      if (level.next == level.at.subtree_end()) {
        out_.push_back(level.at.is_object() ? '}' : ']');
        open_.pop_back();
        continue;
      }
      const JsonValue child = level.at.at(level.next);
      level.next = child.subtree_end();
      Put(child, &level);
    }
    return std::move(out_);
  }

 private:
  struct Level {
    JsonValue at;
    Holds holds;
    JsonId next;
    bool is_first = true;
  };

  [[nodiscard]] bool SaysNothing(Keyword keyword, const JsonValue& member) {
    if (keyword == Keyword::kText) return member.is_string();
    return keyword == Keyword::kExamples && member.is_array() && !HasExamples(member.at(root_));
  }

  // Looked for at the first examples: few schemas have some.
  bool HasExamples(const JsonValue& root) {
    if (!has_examples_.has_value()) has_examples_ = RefersToExamples(root);
    return *has_examples_;
  }

  void Open(const JsonValue& at, Holds holds) {
    if (!at.is_object() && !at.is_array()) {
      at.AppendCompact(&out_);
      return;
    }
    out_.push_back(at.is_object() ? '{' : '[');
    open_.push_back({at, holds, at.id() + 1});
  }

  void Put(const JsonValue& child, Level* level) {
    const bool is_member = level->at.is_object();
    const bool is_keyword = is_member && level->holds == Holds::kSchema;
    const auto known = is_keyword ? keywords_.find(child.key()) : keywords_.end();
    if (known != keywords_.end() && SaysNothing(known->second, child)) return;
    if (!level->is_first) out_.push_back(',');
    level->is_first = false;
    if (is_member) {
      AppendJsonString(child.key(), &out_);
      out_.push_back(':');
    }
    if (!is_keyword) return Open(child, Holds::kSchema);
    if (known != keywords_.end() && known->second == Keyword::kSchemas)
      return Open(child, Holds::kSchemas);
    // Of "items" there may be a list.
    if (known != keywords_.end() && known->second == Keyword::kSchema)
      return Open(child, child.is_array() ? Holds::kSchemas : Holds::kSchema);
    child.AppendCompact(&out_);
  }

  const Keywords& keywords_ = KnownKeywords();
  JsonId root_ = 0;
  std::optional<bool> has_examples_;  // that are schemas
  std::string out_;
  std::vector<Level> open_;
};

}  // namespace

std::string PlainSchema(const JsonValue& schema) { return Writer().Write(schema); }

}  // namespace maskd
