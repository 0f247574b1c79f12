#include "grammar_core/frontend/json_schema/json_schema.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/reading/dialect.h"
#include "grammar_core/frontend/json_schema/reading/schema_set.h"
#include "grammar_core/frontend/json_schema/rules/schema_compiler.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> ReadRoot(JsonDocument document, const GrammarSource& source,
                                    const Limits& limits, Budget& budget, SchemaValues values,
                                    const SchemaReading& reading = {}) {
  const JsonValue root = document.root();
  if (!root.is_object() && !root.is_bool())
    return InvalidAt("", "a schema must be an object or a boolean");
  std::vector<Diagnostic> warnings;
  const absl::StatusOr<Dialect> dialect = ReadDialect(root, source.documents, limits, &warnings);
  if (!dialect.ok()) return dialect.status();
  const absl::StatusOr<SchemaSet> schemas = SchemaSet::Load(
      SchemaResources(std::move(document), source.documents, *dialect, limits, budget), *dialect,
      source.options.formats, budget);
  if (!schemas.ok()) return schemas.status();
  schemas->AddNotes(&warnings);
  absl::StatusOr<ReadResult> result =
      SchemaCompiler(*schemas, source.options, values, limits, budget, reading).Compile();
  if (!result.ok()) return result.status();
  for (Diagnostic& warning : result->warnings) AddWarning(std::move(warning), &warnings);
  result->warnings = std::move(warnings);
  return result;
}

// A schema of ours for the kinds that have no text.
absl::StatusOr<ReadResult> ReadFixed(absl::string_view schema, GrammarSource source,
                                     const Limits& limits, Budget& budget) {
  if (!absl::StripAsciiWhitespace(source.text).empty())
    return InvalidAt("", absl::StrCat("the kind ", source.kind, " takes no text"));
  source.text = std::string(schema);
  return ReadJsonSchema(source, limits, budget);
}

}  // namespace

absl::StatusOr<ReadResult> ReadJsonSchema(const GrammarSource& source, const Limits& limits,
                                          Budget& budget) {
  return ReadJsonSchema(source, limits, budget, SchemaValues::kInline);
}

absl::StatusOr<ReadResult> ReadJsonSchema(const GrammarSource& source, const Limits& limits,
                                          Budget& budget, SchemaValues values) {
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(source.text, limits);
  if (!document.ok()) return document.status();
  return ReadRoot(*std::move(document), source, limits, budget, values);
}

absl::StatusOr<ReadResult> ReadJsonSchema(JsonDocument document, const GrammarSource& source,
                                          const Limits& limits, Budget& budget, SchemaValues values,
                                          const SchemaReading& reading) {
  return ReadRoot(std::move(document), source, limits, budget, values, reading);
}

absl::StatusOr<ReadResult> ReadJsonSchema(JsonDocument document, const GrammarSource& source,
                                          const Limits& limits, Budget& budget) {
  return ReadRoot(std::move(document), source, limits, budget, SchemaValues::kInline);
}

absl::StatusOr<ReadResult> ReadAnyJsonObject(const GrammarSource& source, const Limits& limits,
                                             Budget& budget) {
  return ReadFixed(R"({"type":"object","additionalProperties":true})", source, limits, budget);
}

absl::StatusOr<ReadResult> ReadAnyJson(const GrammarSource& source, const Limits& limits,
                                       Budget& budget) {
  return ReadFixed("true", source, limits, budget);
}

}  // namespace maskd
