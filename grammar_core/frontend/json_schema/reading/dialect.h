// The drafts of JSON Schema, and which one a schema is written in.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_DIALECT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_DIALECT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// In the order of their publication, so that they can be compared.
enum class SchemaDraft : std::uint8_t { k4, k6, k7, k2019, k2020 };

// The parts that 2019-09 and 2020-12 have their keywords in.
enum class SchemaVocabulary : std::uint8_t {
  kCore,
  kApplicator,
  kUnevaluated,
  kValidation,
  kFormat
};

// What a schema's text says of how its keywords are read. A plain value.
struct Dialect {
  SchemaDraft draft = SchemaDraft::k2020;
  // False where the schema names none: then the older forms of `items` are read too.
  bool named = false;
  // Vocabularies that the schema's own meta-schema does not have, a bit each: their keywords are
  // unknown ones.
  std::uint8_t left_out = 0;
  // The schema's own meta-schema says that formats are asserted.
  bool format_assertion = false;

  // Whether its keywords are read; core and those not left out.
  [[nodiscard]] bool has(SchemaVocabulary vocabulary) const {
    return (left_out >> static_cast<int>(vocabulary) & 1) == 0;
  }

  // Up to draft 7 the keywords beside a $ref are ignored.
  [[nodiscard]] bool ref_stands_alone() const { return draft <= SchemaDraft::k7; }

  // Whether a string must be of its format. From 2019-09 on a draft says that it need not; of a
  // schema that names no draft nothing is known, and nothing wrong shall pass.
  [[nodiscard]] bool asserts_formats(Formats formats) const {
    if (formats != Formats::kByDraft) return formats == Formats::kAsserted;
    return !named || draft <= SchemaDraft::k7 || format_assertion;
  }
};

// By the root's $schema: a draft's, or that of one of `given`, whose $vocabulary counts. Another
// one is read as 2020-12, with a warning. Errors: UNIMPLEMENTED for a vocabulary that is required
// and not known.
absl::StatusOr<Dialect> ReadDialect(const JsonValue& root,
                                    const std::vector<GrammarSource::Document>& given,
                                    const Limits& limits, std::vector<Diagnostic>* warnings);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_DIALECT_H_
