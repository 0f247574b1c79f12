// The names of types, and the type of a value.
//
// "number" is two types here, integers and fractions, so that "integer" is a subset of it and a
// conjunction of types is an intersection of bits. Whether 1.0 is an integer is decided by its
// value, as from draft 6 on; draft 4's other reading is settled in schema_view.cc.
//
// Source  JSON Schema Validation, section 6.1.1.
#include "grammar_core/frontend/json_schema/reading/types.h"

#include <array>

#include "grammar_core/base/decimal.h"

namespace maskd {
namespace {

struct NamedType {
  absl::string_view name;
  TypeSet type;
};

constexpr std::array kTypes = {
    NamedType{"null", kNullType},       NamedType{"boolean", kBooleanType},
    NamedType{"object", kObjectType},   NamedType{"array", kArrayType},
    NamedType{"number", kNumberType},   NamedType{"string", kStringType},
    NamedType{"integer", kIntegerType},
};

}  // namespace

std::optional<TypeSet> TypeByName(absl::string_view name) {
  for (const NamedType& type : kTypes)
    if (type.name == name) return type.type;
  return std::nullopt;
}

TypeSet TypeOf(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::kNull:
      return kNullType;
    case JsonType::kFalse:
    case JsonType::kTrue:
      return kBooleanType;
    case JsonType::kNumber:
      return ReadDecimal(value.text()).is_integer() ? kIntegerType : kFractionType;
    case JsonType::kString:
      return kStringType;
    case JsonType::kArray:
      return kArrayType;
    case JsonType::kObject:
    case JsonType::kUnread:
      return kObjectType;
  }
  return kNoType;
}

}  // namespace maskd
