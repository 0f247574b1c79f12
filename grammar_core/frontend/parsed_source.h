// A source and, where its kind has JSON texts, its text as a tree: parsed once, for the grammar's
// id and for the grammar.
//
// Threads  a plain value, to be moved.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PARSED_SOURCE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PARSED_SOURCE_H_

#include <memory>
#include <optional>

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_context.h"

namespace maskd {

struct ChatSource;  // chat/chat.h

// A source after its syntax was read: its id can be told, and a compile goes on from here.
struct ParsedSource {
  GrammarSource source;
  // Present for the kinds whose text is JSON.
  std::optional<JsonDocument> json;
  // Present for the kind "chat"; views `json`.
  std::shared_ptr<const ChatSource> chat = {};
  ReadContext context = {};
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PARSED_SOURCE_H_
