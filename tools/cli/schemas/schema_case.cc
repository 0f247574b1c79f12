#include "tools/cli/schemas/schema_case.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd::cli {
namespace {

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 5> kDrafts = {{
    {"4", "http://json-schema.org/draft-04/schema#"},
    {"6", "http://json-schema.org/draft-06/schema#"},
    {"7", "http://json-schema.org/draft-07/schema#"},
    {"2019-09", "https://json-schema.org/draft/2019-09/schema"},
    {"2020-12", "https://json-schema.org/draft/2020-12/schema"},
}};

// The bounds are those of a server; a file of cases may hold what a server refuses.
Limits FileLimits() {
  Limits limits;
  limits.source_bytes = std::numeric_limits<std::int64_t>::max();
  limits.source_depth = 100'000;
  return limits;
}

absl::StatusOr<std::string> AddDraft(std::string schema, absl::string_view draft) {
  absl::ConsumePrefix(&draft, "draft");
  for (const auto& [name, uri] : kDrafts) {
    if (name != draft) continue;
    const bool is_empty = schema == "{}";
    return absl::StrCat("{\"$schema\":\"", uri, "\"", is_empty ? "" : ",", schema.substr(1));
  }
  return absl::InvalidArgumentError(absl::StrCat("draft: there is no \"", draft, "\""));
}

absl::StatusOr<std::string> SchemaText(const JsonValue& line) {
  const std::optional<JsonValue> schema = line.Find("schema");
  if (!schema.has_value()) return absl::InvalidArgumentError("schema: is missing");
  if (schema->is_string()) return std::string(schema->text());
  const std::optional<JsonValue> draft = line.Find("draft");
  if (!draft.has_value() || !schema->is_object() || schema->Find("$schema").has_value())
    return schema->Compact();
  return AddDraft(schema->Compact(), draft->is_string() ? draft->text() : "");
}

absl::Status AddTexts(const JsonValue& line, absl::string_view name,
                      std::vector<std::string>& texts) {
  const std::optional<JsonValue> list = line.Find(name);
  if (!list.has_value()) return absl::OkStatus();
  for (const JsonValue text : list->children()) {
    if (!list->is_array() || !text.is_string())
      return absl::InvalidArgumentError(absl::StrCat(name, ": is no list of strings"));
    texts.emplace_back(text.text());
  }
  return absl::OkStatus();
}

absl::Status AddTests(const JsonValue& line, SchemaCase& made) {
  const std::optional<JsonValue> tests = line.Find("tests");
  if (!tests.has_value()) return absl::OkStatus();
  for (const JsonValue test : tests->children()) {
    const std::optional<JsonValue> valid = test.Find("valid");
    const std::optional<JsonValue> text = test.Find("text");
    if (!valid.has_value() || !valid->is_bool() || !text.has_value() || !text->is_string())
      return absl::InvalidArgumentError("tests: is no list of objects with valid and text");
    (valid->type() == JsonType::kTrue ? made.valid : made.invalid).emplace_back(text->text());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SchemaCase> ReadSchemaCase(absl::string_view line) {
  const auto document = JsonDocument::Parse(line, FileLimits());
  if (!document.ok()) return document.status();
  const JsonValue root = document->root();
  if (!root.is_object()) return absl::InvalidArgumentError("is no JSON object");
  SchemaCase made;
  auto schema = SchemaText(root);
  if (!schema.ok()) return schema.status();
  made.schema = *std::move(schema);
  const absl::Status statuses[] = {AddTexts(root, "valid", made.valid),
                                   AddTexts(root, "invalid", made.invalid),
                                   AddTexts(root, "shuffled", made.shuffled), AddTests(root, made)};
  for (const absl::Status& status : statuses)
    if (!status.ok()) return status;
  for (const JsonValue field : root.children())
    if (field.is_string()) made.fields.emplace(field.key(), field.text());
  made.id = made.fields["id"];
  return made;
}

}  // namespace maskd::cli
