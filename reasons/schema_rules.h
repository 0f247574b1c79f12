// Which rules of a JSON schema speak about the place where a text stands.
//
// The text is followed through the schema: downwards by properties, patternProperties,
// additionalProperties, items and prefixItems; sideways by $ref within the document, allOf, anyOf,
// oneOf, then and else. The subschemas that are met have keywords that fit the place, and those are
// named: the ones about strings inside a string, "required" behind a member, and so on.
//
// Exactness  a rule named here speaks about the place; which of several refused a token is not
//            told. A branch of anyOf that the text has left already is named too.
// Bounds   kMostSchemas subschemas a place, kMostRules rules.
// Threads  pure functions.
#ifndef MASKD_REASONS_SCHEMA_RULES_H_
#define MASKD_REASONS_SCHEMA_RULES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "reasons/json_position.h"

namespace maskd::reasons {

inline constexpr std::size_t kMostSchemas = 256;
inline constexpr std::size_t kMostRules = 12;

// A pattern of the schema that the string at hand is held to.
struct SchemaPattern {
  std::string place;     // JSON Pointer; of a name in patternProperties that of its member
  bool is_name = false;  // the pattern is that name, not the value
  std::string text;
};

// A keyword of the schema: where it stands and what it says, shortened.
struct SchemaRule {
  std::string place;  // JSON Pointer
  std::string says;
  // Of `pattern` and `patternProperties`, where a string is open.
  std::vector<SchemaPattern> patterns = {};
};

// `root` is the source; the schema stands at `schema_pointer` in it ("" for the whole).
std::vector<SchemaRule> FindRules(const nlohmann::ordered_json& root,
                                  const std::string& schema_pointer, const JsonPosition& position);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_SCHEMA_RULES_H_
