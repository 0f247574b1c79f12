// The table of keywords, and the checks of their values by shape.
//
// A keyword has a row for each form that it had in some drafts: exclusiveMinimum is a boolean in
// draft 4 and a number from draft 6 on. A name without a row in the dialect is an annotation, as
// the specification asks.
//
// Invariant  a value that has passed CheckShape() has the JSON type that all later code takes for
//            granted: `*TypeByName()` and CountOf() do not fail behind it.
// Cost       FindKeyword() is a walk over some 75 rows for each member of a schema.
// Source     JSON Schema Validation, section 6, and Core, sections 8 to 11, of each draft.
#include "grammar_core/frontend/json_schema/reading/keywords.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/decimal.h"
#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using K = Keyword;
using S = Shape;

constexpr SchemaDraft kFirst = SchemaDraft::k4;
constexpr SchemaDraft kLast = SchemaDraft::k2020;

// Rows stand in no order but that of a reader: the common ones first, annotations last. A row says
// what the rest of the front end needs of a keyword: who acts on it, in which drafts it exists,
// what shape its value has, and the types of value that it can exclude.
// An annotation that every draft may carry: its value is nobody's business here.
constexpr KeywordRow Annotation(absl::string_view name, Shape shape = Shape::kAnything) {
  return {name, K::kAnnotation, kFirst, kLast, shape, kNoType};
}

constexpr std::array kKeywords = {
    KeywordRow{"type", K::kType, kFirst, kLast, S::kType, kEveryType},
    KeywordRow{"properties", K::kProperties, kFirst, kLast, S::kSchemaMap, kObjectType},
    KeywordRow{"required", K::kRequired, kFirst, kLast, S::kStringList, kObjectType},
    KeywordRow{"additionalProperties", K::kAdditionalProperties, kFirst, kLast, S::kSchema,
               kObjectType},
    KeywordRow{"$ref", K::kRef, kFirst, kLast, S::kString, kEveryType},
    KeywordRow{"enum", K::kEnum, kFirst, kLast, S::kList, kEveryType},
    KeywordRow{"const", K::kConst, SchemaDraft::k6, kLast, S::kAnything, kEveryType},
    KeywordRow{"items", K::kItems, kFirst, kLast, S::kSchemaOrList, kArrayType},
    KeywordRow{"prefixItems", K::kPrefixItems, SchemaDraft::k2020, kLast, S::kSchemaList,
               kArrayType},
    KeywordRow{"additionalItems", K::kAdditionalItems, kFirst, SchemaDraft::k2019, S::kSchema,
               kArrayType},
    KeywordRow{"minItems", K::kMinItems, kFirst, kLast, S::kCount, kArrayType},
    KeywordRow{"maxItems", K::kMaxItems, kFirst, kLast, S::kCount, kArrayType},
    KeywordRow{"minLength", K::kMinLength, kFirst, kLast, S::kCount, kStringType},
    KeywordRow{"maxLength", K::kMaxLength, kFirst, kLast, S::kCount, kStringType},
    KeywordRow{"allOf", K::kAllOf, kFirst, kLast, S::kSchemaList, kEveryType},
    KeywordRow{"anyOf", K::kAnyOf, kFirst, kLast, S::kSchemaList, kEveryType},
    KeywordRow{"oneOf", K::kOneOf, kFirst, kLast, S::kSchemaList, kEveryType},
    KeywordRow{"not", K::kNot, kFirst, kLast, S::kSchema, kEveryType},
    KeywordRow{"if", K::kIf, SchemaDraft::k7, kLast, S::kSchema, kEveryType},
    KeywordRow{"then", K::kThen, SchemaDraft::k7, kLast, S::kSchema, kEveryType},
    KeywordRow{"else", K::kElse, SchemaDraft::k7, kLast, S::kSchema, kEveryType},
    KeywordRow{"pattern", K::kPattern, kFirst, kLast, S::kString, kStringType},
    KeywordRow{"minimum", K::kMinimum, kFirst, kLast, S::kNumber, kNumberType},
    KeywordRow{"maximum", K::kMaximum, kFirst, kLast, S::kNumber, kNumberType},
    KeywordRow{"exclusiveMinimum", K::kExclusiveMinimum, kFirst, SchemaDraft::k4, S::kBoolean,
               kNumberType},
    KeywordRow{"exclusiveMaximum", K::kExclusiveMaximum, kFirst, SchemaDraft::k4, S::kBoolean,
               kNumberType},
    KeywordRow{"exclusiveMinimum", K::kExclusiveMinimum, SchemaDraft::k6, kLast, S::kNumber,
               kNumberType},
    KeywordRow{"exclusiveMaximum", K::kExclusiveMaximum, SchemaDraft::k6, kLast, S::kNumber,
               kNumberType},
    KeywordRow{"multipleOf", K::kMultipleOf, kFirst, kLast, S::kPositiveNumber, kNumberType},
    KeywordRow{"patternProperties", K::kPatternProperties, kFirst, kLast, S::kSchemaMap,
               kObjectType},
    KeywordRow{"propertyNames", K::kPropertyNames, SchemaDraft::k6, kLast, S::kSchema, kObjectType},
    KeywordRow{"minProperties", K::kMinProperties, kFirst, kLast, S::kCount, kObjectType},
    KeywordRow{"maxProperties", K::kMaxProperties, kFirst, kLast, S::kCount, kObjectType},
    KeywordRow{"dependencies", K::kDependencies, kFirst, kLast, S::kDependencies, kObjectType},
    KeywordRow{"dependentRequired", K::kDependentRequired, SchemaDraft::k2019, kLast,
               S::kStringListMap, kObjectType},
    KeywordRow{"dependentSchemas", K::kDependentSchemas, SchemaDraft::k2019, kLast, S::kSchemaMap,
               kObjectType},
    KeywordRow{"contains", K::kContains, SchemaDraft::k6, kLast, S::kSchema, kArrayType},
    KeywordRow{"minContains", K::kMinContains, SchemaDraft::k2019, kLast, S::kCount, kArrayType},
    KeywordRow{"maxContains", K::kMaxContains, SchemaDraft::k2019, kLast, S::kCount, kArrayType},
    KeywordRow{"uniqueItems", K::kUniqueItems, kFirst, kLast, S::kBoolean, kArrayType},
    KeywordRow{"unevaluatedItems", K::kUnevaluatedItems, SchemaDraft::k2019, kLast, S::kSchema,
               kArrayType},
    KeywordRow{"unevaluatedProperties", K::kUnevaluatedProperties, SchemaDraft::k2019, kLast,
               S::kSchema, kObjectType},
    KeywordRow{"$dynamicRef", K::kDynamicRef, SchemaDraft::k2020, kLast, S::kString, kEveryType},
    KeywordRow{"$recursiveRef", K::kRecursiveRef, SchemaDraft::k2019, SchemaDraft::k2019,
               S::kString, kEveryType},
    KeywordRow{"format", K::kFormat, kFirst, kLast, S::kString, kStringType},
    Annotation("$defs", S::kObject),
    Annotation("definitions", S::kObject),
    Annotation("$schema", S::kString),
    Annotation("$id", S::kString),
    Annotation("id"),
    Annotation("$anchor", S::kString),
    Annotation("$dynamicAnchor", S::kString),
    Annotation("$recursiveAnchor"),
    Annotation("$vocabulary"),
    Annotation("$comment"),
    Annotation("title"),
    Annotation("description"),
    Annotation("default"),
    Annotation("examples"),
    Annotation("deprecated"),
    Annotation("readOnly"),
    Annotation("writeOnly"),
    Annotation("contentEncoding"),
    Annotation("contentMediaType"),
    Annotation("contentSchema"),
};

// Booleans are schemas from draft 6 on. They are taken in draft 4 too, as most validators do:
// schemas mix drafts.
bool IsSchema(const JsonValue& value) { return value.is_object() || value.is_bool(); }

absl::Status Wrong(const JsonValue& value, absl::string_view message) {
  return InvalidAt(value.Pointer(), message);
}

absl::Status CheckSchema(const JsonValue& value) {
  return IsSchema(value) ? absl::OkStatus()
                         : Wrong(value, "a schema must be an object or a boolean");
}

absl::Status CheckSchemas(const JsonValue& value) {
  for (const JsonValue child : value.children())
    if (!IsSchema(child)) return CheckSchema(child);
  return absl::OkStatus();
}

absl::Status CheckSchemaList(const JsonValue& value) {
  if (!value.is_array()) return Wrong(value, "must be a list of schemas");
  if (value.size() == 0) return Wrong(value, "must hold at least one schema");
  return CheckSchemas(value);
}

absl::Status CheckStringList(const JsonValue& value) {
  if (!value.is_array()) return Wrong(value, "must be a list of strings");
  for (const JsonValue child : value.children())
    if (!child.is_string()) return Wrong(child, "must be a string");
  return absl::OkStatus();
}

// `dependencies` is the one keyword whose members may be of two shapes: a list of names, or a
// schema.
absl::Status CheckMap(const JsonValue& value, Shape shape) {
  if (!value.is_object()) return Wrong(value, "must be an object");
  for (const JsonValue child : value.children()) {
    const bool strings =
        shape == S::kStringListMap || (shape == S::kDependencies && child.is_array());
    const absl::Status status = strings ? CheckStringList(child) : CheckSchema(child);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckTypeName(const JsonValue& value) {
  if (!value.is_string()) return Wrong(value, "must be a string or a list of strings");
  if (TypeByName(value.text()).has_value()) return absl::OkStatus();
  return Wrong(value, absl::StrCat("there is no type \"", value.text(),
                                   "\"; types are null, boolean, object, array, number, string, "
                                   "integer"));
}

absl::Status CheckType(const JsonValue& value) {
  if (!value.is_array()) return CheckTypeName(value);
  if (value.size() == 0) return Wrong(value, "must name at least one type");
  for (const JsonValue child : value.children())
    if (absl::Status status = CheckTypeName(child); !status.ok()) return status;
  return absl::OkStatus();
}

// A count may be written 2.0 or 2e0: its value decides, so it is read as a decimal. One over 32
// bits is no error, see AsCount().
absl::Status CheckNumber(const JsonValue& value, Shape shape) {
  if (!value.is_number())
    return Wrong(value, shape == S::kCount ? "must be an integer from 0" : "must be a number");
  const Decimal number = ReadDecimal(value.text());
  if (shape == S::kCount && !AsCount(number).has_value())
    return Wrong(value, absl::StrCat("must be an integer from 0, is ", value.text()));
  if (shape == S::kPositiveNumber && (number.negative || number.is_zero()))
    return Wrong(value, "must be greater than 0");
  return absl::OkStatus();
}

absl::Status CheckPlain(const JsonValue& value, bool holds, absl::string_view what) {
  return holds ? absl::OkStatus() : Wrong(value, absl::StrCat("must be ", what));
}

// The vocabulary of 2019-09 and 2020-12 that a keyword is in; older drafts have all of them.
SchemaVocabulary SchemaVocabularyOf(Keyword keyword) {
  switch (keyword) {
    case K::kAdditionalItems:
    case K::kAdditionalProperties:
    case K::kAllOf:
    case K::kAnyOf:
    case K::kContains:
    case K::kDependencies:
    case K::kDependentSchemas:
    case K::kElse:
    case K::kIf:
    case K::kItems:
    case K::kNot:
    case K::kOneOf:
    case K::kPatternProperties:
    case K::kPrefixItems:
    case K::kProperties:
    case K::kPropertyNames:
    case K::kThen:
      return SchemaVocabulary::kApplicator;
    case K::kUnevaluatedItems:
    case K::kUnevaluatedProperties:
      return SchemaVocabulary::kUnevaluated;
    case K::kFormat:
      return SchemaVocabulary::kFormat;
    case K::kAnnotation:
    case K::kDynamicRef:
    case K::kRecursiveRef:
    case K::kRef:
      return SchemaVocabulary::kCore;
    default:
      return SchemaVocabulary::kValidation;
  }
}

}  // namespace

// Rows of one name exclude one another by their drafts.
const KeywordRow* FindKeyword(absl::string_view name, const Dialect& dialect) {
  for (const KeywordRow& row : kKeywords) {
    if (row.name != name) continue;
    if (!dialect.has(SchemaVocabularyOf(row.keyword))) return nullptr;
    const bool legacy = row.keyword == K::kAdditionalItems && !dialect.named;
    if (legacy || (row.first <= dialect.draft && dialect.draft <= row.last)) return &row;
  }
  return nullptr;
}

// A table by number, made by the compiler: this is asked for every claim.
TypeSet DomainOf(Keyword keyword) {
  static constexpr auto kDomains = [] {
    std::array<TypeSet, static_cast<std::size_t>(K::kAnnotation) + 1> domains = {};
    for (const KeywordRow& row : kKeywords)
      domains[static_cast<std::size_t>(row.keyword)] |= row.domain;
    return domains;
  }();
  return kDomains[static_cast<std::size_t>(keyword)];
}

// Facets bound one string or number by itself. They stay as they stand in the source, since what
// they mean together is decided by a language, not by a comparison of two numbers.
bool IsFacet(Keyword keyword) {
  switch (keyword) {
    case K::kConst:
    case K::kEnum:
    case K::kExclusiveMaximum:
    case K::kExclusiveMinimum:
    case K::kFormat:
    case K::kMaximum:
    case K::kMinimum:
    case K::kMultipleOf:
    case K::kPattern:
      return true;
    default:
      return false;
  }
}

absl::Status CheckShape(const KeywordRow& row, const JsonValue& value) {
  switch (row.shape) {
    case S::kAnything:
      return absl::OkStatus();
    case S::kSchema:
      return CheckSchema(value);
    case S::kSchemaList:
      return CheckSchemaList(value);
    case S::kSchemaOrList:
      return value.is_array() ? CheckSchemas(value) : CheckSchema(value);
    case S::kSchemaMap:
    case S::kDependencies:
    case S::kStringListMap:
      return CheckMap(value, row.shape);
    case S::kStringList:
      return CheckStringList(value);
    case S::kString:
      return CheckPlain(value, value.is_string(), "a string");
    case S::kObject:
      return CheckPlain(value, value.is_object(), "an object");
    case S::kBoolean:
      return CheckPlain(value, value.is_bool(), "a boolean");
    case S::kList:
      return CheckPlain(value, value.is_array() && value.size() > 0,
                        "a list with at least one value");
    case S::kNumber:
    case S::kPositiveNumber:
    case S::kCount:
      return CheckNumber(value, row.shape);
    case S::kType:
      return CheckType(value);
  }
  return absl::OkStatus();
}

// The schemas that a keyword's value holds, one level down. The caller reads on from there, so a
// walk over all schemas of a document needs no recursion and knows no keyword by name.
std::vector<JsonValue> SubschemasOf(Shape shape, const JsonValue& value) {
  std::vector<JsonValue> schemas;
  const bool single = shape == S::kSchema || (shape == S::kSchemaOrList && !value.is_array());
  const bool many = shape == S::kSchemaList || shape == S::kSchemaMap ||
                    shape == S::kSchemaOrList || shape == S::kDependencies;
  if (single) {
    schemas.push_back(value);
  } else if (many) {
    for (const JsonValue child : value.children())
      if (IsSchema(child)) schemas.push_back(child);
  }
  return schemas;
}

}  // namespace maskd
