// A JSON schema with instances whose verdict is known: a line of a file of test cases.
//
// Format   one JSON object a line: `schema` (a schema, or a string that is its text), `valid` and
//          `invalid` (lists of texts) or `tests` (a list of objects with `valid` and `text`).
//          Where present: `id`; `draft` (such as "draft7": the $schema of a schema without one);
//          `shuffled` (valid texts whose members stand in another order). Other fields are kept by
//          name where they are strings, such as `keyword`.
// Threads  plain values.
#ifndef MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_CASE_H_
#define MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_CASE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::cli {

// Texts are JSON, taken as they are.
struct SchemaCase {
  std::string id;
  std::string schema;
  std::vector<std::string> valid;
  std::vector<std::string> invalid;
  std::vector<std::string> shuffled;
  // String fields by name.
  std::map<std::string, std::string, std::less<>> fields;
};

// Errors: INVALID_ARGUMENT with what is wrong with the line.
absl::StatusOr<SchemaCase> ReadSchemaCase(absl::string_view line);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_CASE_H_
