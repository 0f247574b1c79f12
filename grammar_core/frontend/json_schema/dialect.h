// The drafts of JSON Schema, and which one a schema is written in.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_DIALECT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_DIALECT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

enum class Draft : std::uint8_t { k4, k6, k7, k2019, k2020 };

struct Dialect {
  Draft draft = Draft::k2020;
  // False where the schema names none: then the older forms of `items` are read too.
  bool named = false;

  // Up to draft 7 the keywords beside a $ref are ignored.
  [[nodiscard]] bool ref_stands_alone() const { return draft <= Draft::k7; }

  // Whether a string must be of its format. From 2019-09 on a draft says that it need not; of a
  // schema that names no draft nothing is known, and nothing wrong shall pass.
  [[nodiscard]] bool asserts_formats(Formats formats) const {
    if (formats != Formats::kByDraft) return formats == Formats::kAsserted;
    return !named || draft <= Draft::k7;
  }
};

// By the root's $schema. One we do not know is read as 2020-12, with a warning.
absl::StatusOr<Dialect> ReadDialect(const JsonValue& root, std::vector<Diagnostic>* warnings);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_DIALECT_H_
