// Every keyword of drafts 4 to 2020-12: where it holds, the shape of its value, what we do with it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_KEYWORDS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_KEYWORDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/dialect.h"
#include "grammar_core/frontend/json_schema/reading/types.h"

namespace maskd {

// Those that the front end knows. What only describes is kAnnotation.
enum class Keyword : std::uint8_t {
  kAdditionalItems,
  kAdditionalProperties,
  kAllOf,
  kAnyOf,
  kConst,
  kContains,
  kDependencies,
  kDependentRequired,
  kDependentSchemas,
  kDynamicRef,
  kElse,
  kEnum,
  kExclusiveMaximum,
  kExclusiveMinimum,
  kFormat,
  kIf,
  kItems,
  kMaxContains,
  kMaxItems,
  kMaxLength,
  kMaxProperties,
  kMaximum,
  kMinContains,
  kMinItems,
  kMinLength,
  kMinProperties,
  kMinimum,
  kMultipleOf,
  kNot,
  kOneOf,
  kPattern,
  kPatternProperties,
  kPrefixItems,
  kProperties,
  kPropertyNames,
  kRecursiveRef,
  kRef,
  kRequired,
  kThen,
  kType,
  kUnevaluatedItems,
  kUnevaluatedProperties,
  kUniqueItems,
  kAnnotation,
};

// What a keyword's value must look like; CheckShape() says where it does not.
enum class Shape : std::uint8_t {
  kAnything,
  kSchema,
  kSchemaList,     // at least one
  kSchemaMap,      // an object whose values are schemas
  kSchemaOrList,   // `items` up to 2019-09
  kDependencies,   // an object whose values are schemas or lists of strings
  kStringListMap,  // an object whose values are lists of strings
  kStringList,
  kString,
  kList,  // at least one element
  kObject,
  kBoolean,
  kNumber,
  kPositiveNumber,
  kCount,  // an integer from 0
  kType,   // a type's name or a list of them
};

// A keyword in the drafts from `first` to `last`; one whose shape changed has several rows.
struct KeywordRow {
  absl::string_view name;
  Keyword keyword;
  SchemaDraft first;
  SchemaDraft last;
  Shape shape;
  // The types of instances that it says anything about.
  TypeSet domain;
};

// The row of `name` in `dialect`, or null: an unknown keyword is an annotation.
const KeywordRow* FindKeyword(absl::string_view name, const Dialect& dialect);

// The types of values that a keyword speaks of, whatever the draft.
TypeSet DomainOf(Keyword keyword);

// Whether a keyword is a Facet of strings or numbers when it is violated.
bool IsFacet(Keyword keyword);

// INVALID_ARGUMENT at the exact place where `value` is not of `row.shape`. What lies in subschemas
// is not looked at, but each must be an object or a boolean.
absl::Status CheckShape(const KeywordRow& row, const JsonValue& value);

// The subschemas directly in the value of a keyword of `shape`.
std::vector<JsonValue> SubschemasOf(Shape shape, const JsonValue& value);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_KEYWORDS_H_
