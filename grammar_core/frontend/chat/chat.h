// The front end of "chat": what a model may answer to an OpenAI request, in its family's own
// wrappers.
//
// Source   {"family": NAME, "request": {...}, ...}: chat_request.h has its members, family.h the
//          families. docs/chat.md is for users.
// Meaning  that of a structural tag that is made of it. Markers are those of the vocabulary.
// Errors   INVALID_ARGUMENT at the JSON Pointer of what is wrong. What is wrong in a tool is told
//          at its place in the source, with its number and name; UNIMPLEMENTED likewise. With
//          "bad_tools": "leave_out" such a tool is left out, and a warning.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_H_

#include <string>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/chat/chat_request.h"
#include "grammar_core/frontend/chat/chat_tag.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_context.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// What is made of a source for its id, and read for its grammar.
struct ChatSource {
  absl::StatusOr<ChatRequest> request;
  absl::StatusOr<ChatTagText> tag;  // of the request; an error where that is one

  // `schemas` may be null.
  explicit ChatSource(const JsonValue& root, SchemaStore* schemas = nullptr);
};

// Schemas of tools that `context` has read before are left unread.
absl::StatusOr<JsonDocument> ParseChat(absl::string_view text, const ReadContext& context,
                                       const Limits& limits);

absl::StatusOr<ReadResult> ReadChat(const ChatSource& text, const GrammarSource& source,
                                    const ReadContext& context, const Limits& limits,
                                    Budget& budget);

// What two requests have in common that mean the same: see chat_tag.h. The text itself, `root`,
// where it is no request.
std::string NormalChat(const ChatSource& text, const JsonValue& root);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_H_
