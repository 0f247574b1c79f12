// Sets of JSON Schema's types, with numbers split into integers and the rest.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_TYPES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_TYPES_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// A union of the bits below.
using TypeSet = std::uint8_t;

inline constexpr TypeSet kNoType = 0;
inline constexpr TypeSet kNullType = 1;
inline constexpr TypeSet kBooleanType = 2;
inline constexpr TypeSet kIntegerType = 4;
inline constexpr TypeSet kFractionType = 8;
inline constexpr TypeSet kNumberType = kIntegerType | kFractionType;
inline constexpr TypeSet kStringType = 16;
inline constexpr TypeSet kArrayType = 32;
inline constexpr TypeSet kObjectType = 64;
inline constexpr TypeSet kEveryType = 127;

// "integer" and so on; nothing for an unknown name.
std::optional<TypeSet> TypeByName(absl::string_view name);

// The one type of a value; 1.0 is an integer.
TypeSet TypeOf(const JsonValue& value);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_TYPES_H_
