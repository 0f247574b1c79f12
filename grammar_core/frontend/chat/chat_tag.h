// What an answer to a chat request may be, as the text of a structural tag.
//
// Names    tools come in the order of their names and schemas without what says nothing of values
//          (titles, descriptions, examples): requests that mean the same have the same text.
// Shape    [reasoning] [between] then free text with calls in it ("auto"), calls alone (a forced
//          choice), or the answer alone. Where the answer has its own frame, or a response format
//          beside the tools, it is the answer or calls.
// Errors   INVALID_ARGUMENT and UNIMPLEMENTED at the place of a response format.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_TAG_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_TAG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/shared_text.h"
#include "grammar_core/frontend/chat/chat_request.h"
#include "grammar_core/frontend/structural_tag/format.h"

namespace maskd {

// A tag whose text has one tag for all tools, as ReadContext::tools has it: the text is made and
// read for each request, the tools' schemas are mostly known.
struct ChatTagText {
  std::string text;
  std::vector<TagTool> tools;  // empty where the text has all of them
};

// The tag of `request`. `schemas` has the texts of tools that were read before; it may be null.
absl::StatusOr<ChatTagText> MakeChatTag(const ChatRequest& request, SchemaStore* schemas = nullptr);
// The same for who asks what of the request a text comes from: it always has one tag for all tools.
// UNIMPLEMENTED where the request has a text that means a tool there.
absl::StatusOr<ChatTagText> MakeChatTagOfEachTool(const ChatRequest& request);
// The part of either that is the response format; nothing where any text may be the answer.
absl::StatusOr<std::optional<std::string>> ResponseFormatTag(const ChatRequest& request);
// All of it in one text, with a tag for each tool.
absl::StatusOr<std::string> ChatTag(const ChatRequest& request);

// The schema that the arguments of `tool` are held to.
SharedText ArgumentsSchema(const ChatRequest& request, const ChatTool& tool,
                           SchemaStore* schemas = nullptr);

// The tag of one call of `tool` alone, to find out what is wrong with it.
std::string ToolTag(const ChatRequest& request, const ChatTool& tool);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_TAG_H_
