// The draft of a schema, and which vocabularies it has.
//
// A known $schema names a draft. Any other URI is looked for among the given documents: a
// meta-schema of the user's own says by $vocabulary which keywords count. What names neither is
// read as 2020-12, with the older forms of `items` let in.
//
// Source  JSON Schema Core 2020-12, section 8.1 ($schema, $vocabulary); 2019-09, section 8.1.
#include "grammar_core/frontend/json_schema/reading/dialect.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {
namespace {

struct NamedDraft {
  absl::string_view uri;
  SchemaDraft draft;
};

constexpr std::array kDrafts = {
    NamedDraft{"json-schema.org/draft-04/schema", SchemaDraft::k4},
    NamedDraft{"json-schema.org/draft-06/schema", SchemaDraft::k6},
    NamedDraft{"json-schema.org/draft-07/schema", SchemaDraft::k7},
    NamedDraft{"json-schema.org/draft/2019-09/schema", SchemaDraft::k2019},
    NamedDraft{"json-schema.org/draft/2020-12/schema", SchemaDraft::k2020},
};

// http or https, with or without an empty fragment: schemas in the wild have all four.
std::optional<SchemaDraft> FindDraft(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, "http://")) absl::ConsumePrefix(&uri, "https://");
  absl::ConsumeSuffix(&uri, "#");
  for (const NamedDraft& named : kDrafts)
    if (named.uri == uri) return named.draft;
  return std::nullopt;
}

struct NamedVocabulary {
  absl::string_view name;
  SchemaVocabulary vocabulary;
};

constexpr std::array kVocabularies = {
    NamedVocabulary{"core", SchemaVocabulary::kCore},
    NamedVocabulary{"applicator", SchemaVocabulary::kApplicator},
    NamedVocabulary{"unevaluated", SchemaVocabulary::kUnevaluated},
    NamedVocabulary{"validation", SchemaVocabulary::kValidation},
    NamedVocabulary{"format", SchemaVocabulary::kFormat},
    NamedVocabulary{"format-annotation", SchemaVocabulary::kFormat},
    NamedVocabulary{"format-assertion", SchemaVocabulary::kFormat},
};

// The last part of a vocabulary's URI, or nothing where it is none of a draft.
absl::string_view VocabularyName(absl::string_view uri) {
  for (const char* draft : {"https://json-schema.org/draft/2019-09/vocab/",
                            "https://json-schema.org/draft/2020-12/vocab/"}) {
    if (absl::ConsumePrefix(&uri, draft)) return uri;
  }
  return "";
}

std::uint8_t Bit(SchemaVocabulary vocabulary) {
  return static_cast<std::uint8_t>(1U << static_cast<int>(vocabulary));
}

// Adds what `entry` of $vocabulary names to `has`.
absl::Status AddVocabulary(const JsonValue& entry, const JsonValue& uri, Dialect* dialect,
                           std::uint8_t* has) {
  const absl::string_view name = VocabularyName(entry.key());
  const auto* const known =
      std::find_if(kVocabularies.begin(), kVocabularies.end(),
                   [&](const NamedVocabulary& vocabulary) { return vocabulary.name == name; });
  if (known != kVocabularies.end()) {
    *has |= Bit(known->vocabulary);
  } else if (entry.type() == JsonType::kTrue) {
    return UnsupportedAt(uri.Pointer(), "$schema",
                         absl::StrCat("its vocabulary \"", entry.key(), "\" is not known"));
  }
  // In 2019-09 unevaluated keywords are applicators.
  if (name == "applicator" && dialect->draft == SchemaDraft::k2019)
    *has |= Bit(SchemaVocabulary::kUnevaluated);
  dialect->format_assertion |= name == "format-assertion";
  return absl::OkStatus();
}

// The dialect of the meta-schema `text`, which `uri` names.
absl::StatusOr<Dialect> ReadMetaSchema(absl::string_view text, const JsonValue& uri,
                                       const Limits& limits) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, limits);
  if (!document.ok())
    return InvalidAt(uri.Pointer(), absl::StrCat("its document: ", document.status().message()));
  Dialect dialect = {.named = true};
  const std::optional<JsonValue> above = document->root().Find("$schema");
  if (above.has_value() && above->is_string())
    dialect.draft = FindDraft(above->text()).value_or(SchemaDraft::k2020);
  const std::optional<JsonValue> vocabularies = document->root().Find("$vocabulary");
  if (!vocabularies.has_value() || dialect.draft < SchemaDraft::k2019) return dialect;
  std::uint8_t has = Bit(SchemaVocabulary::kCore);
  for (const JsonValue entry : vocabularies->children()) {
    const absl::Status added = AddVocabulary(entry, uri, &dialect, &has);
    if (!added.ok()) return added;
  }
  dialect.left_out = static_cast<std::uint8_t>(~has);
  return dialect;
}

}  // namespace

absl::StatusOr<Dialect> ReadDialect(const JsonValue& root,
                                    const std::vector<GrammarSource::Document>& given,
                                    const Limits& limits, std::vector<Diagnostic>* warnings) {
  const std::optional<JsonValue> uri = root.Find("$schema");
  if (!uri.has_value()) return Dialect();
  if (!uri->is_string()) return InvalidAt("/$schema", "must be a string");
  const std::optional<SchemaDraft> draft = FindDraft(uri->text());
  if (draft.has_value()) return Dialect{*draft, true};
  for (const GrammarSource::Document& document : given)
    if (absl::StripSuffix(document.uri, "#") == absl::StripSuffix(uri->text(), "#"))
      return ReadMetaSchema(document.text, *uri, limits);
  AddWarning({"/$schema", "unknown dialect, read as draft 2020-12"}, warnings);
  return Dialect();
}

}  // namespace maskd
