#include "grammar_core/frontend/json_schema/dialect.h"

#include <array>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {
namespace {

struct NamedDraft {
  absl::string_view uri;
  Draft draft;
};

constexpr std::array kDrafts = {
    NamedDraft{"json-schema.org/draft-04/schema", Draft::k4},
    NamedDraft{"json-schema.org/draft-06/schema", Draft::k6},
    NamedDraft{"json-schema.org/draft-07/schema", Draft::k7},
    NamedDraft{"json-schema.org/draft/2019-09/schema", Draft::k2019},
    NamedDraft{"json-schema.org/draft/2020-12/schema", Draft::k2020},
};

std::optional<Draft> FindDraft(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, "http://")) absl::ConsumePrefix(&uri, "https://");
  absl::ConsumeSuffix(&uri, "#");
  for (const NamedDraft& named : kDrafts) {
    if (named.uri == uri) return named.draft;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<Dialect> ReadDialect(const JsonValue& root, std::vector<Diagnostic>* warnings) {
  const std::optional<JsonValue> uri = root.Find("$schema");
  if (!uri.has_value()) return Dialect();
  if (!uri->is_string()) return InvalidAt("/$schema", "must be a string");
  const std::optional<Draft> draft = FindDraft(uri->text());
  if (draft.has_value()) return Dialect{*draft, true};
  AddWarning({"/$schema", "unknown dialect, read as draft 2020-12"}, warnings);
  return Dialect();
}

}  // namespace maskd
