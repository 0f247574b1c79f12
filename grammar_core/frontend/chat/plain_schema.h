// A JSON Schema without what says nothing of values: "title", "description", "$comment" and
// "examples".
//
// Where    at the schemas within it, and nowhere else: a property of such a name stays, as does
//          what a value ("const", "enum", "default") holds. Examples stay where a reference leads
//          into some.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_PLAIN_SCHEMA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_PLAIN_SCHEMA_H_

#include <string>

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// As text, without white space. Nesting is bounded by that of the document.
std::string PlainSchema(const JsonValue& schema);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_PLAIN_SCHEMA_H_
