// Equality of JSON values as JSON Schema has it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_EQUALITY_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_EQUALITY_H_

#include <string>

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// A text that two JSON values share exactly when they are equal: numbers by value, objects without
// regard to the order of their keys.
std::string EqualityKey(const JsonValue& value);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_EQUALITY_H_
