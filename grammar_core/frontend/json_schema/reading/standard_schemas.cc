#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"

#include "absl/strings/strip.h"

namespace maskd {
namespace {

// Without its scheme, which schemas write either way, and an empty fragment.
absl::string_view NameOf(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, "http://")) absl::ConsumePrefix(&uri, "https://");
  return absl::StripSuffix(uri, "#");
}

}  // namespace

std::optional<absl::string_view> FindStandardSchema(absl::string_view uri) {
  for (const EmbeddedJson& schema : StandardSchemas())
    if (NameOf(schema.uri) == NameOf(uri)) return schema.text;
  return std::nullopt;
}

}  // namespace maskd
