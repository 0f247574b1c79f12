// The drafts' own meta-schemas and vocabularies: what a $ref may name without its being given.
//
// Source   json-schema.org, drafts 4, 6, 7, 2019-09 and 2020-12: the files in standard_schemas/,
//          which the build embeds.
// Threads  any.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_STANDARD_SCHEMAS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_STANDARD_SCHEMAS_H_

#include <optional>
#include <span>

#include "absl/strings/string_view.h"

namespace maskd {

// Both views are of the program's own constants.
struct EmbeddedJson {
  absl::string_view uri;  // as the text itself gives it
  absl::string_view text;
};
// In the order of the build's list.
std::span<const EmbeddedJson> StandardSchemas();

// The text of the one that `uri`, which has no fragment, names by http or https.
std::optional<absl::string_view> FindStandardSchema(absl::string_view uri);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_STANDARD_SCHEMAS_H_
