// A request for a chat completion as OpenAI's interface has it: what of it an answer is held to.
//
// Read     "tools", "tool_choice" ("none", "auto", "required", a named function, "allowed_tools"),
//          "parallel_tool_calls" and "response_format". Nothing else of it says what an answer may
//          be, and nothing else is looked at.
// Around   {"family": NAME, "request": {...}, "reasoning"?, "prompt_tail"?, "strictness"?,
//          "bad_tools"?}.
// Errors   INVALID_ARGUMENT at the JSON Pointer of what is wrong; of a tool with its name.
// Ownership  views the document.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_REQUEST_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// What an answer has of reasoning.
enum class ChatReasoning : std::uint8_t {
  kOff,   // none
  kOn,    // it begins with it
  kOpen,  // the prompt has begun it
  kAuto,  // it may begin with it
};

// How calls are held: their envelope always is.
enum class ChatStrictness : std::uint8_t {
  kParameter,  // arguments satisfy their schemas
  kAuto,       // where a tool says "strict": true, or a call is forced
  kFunction,   // arguments are any object
};

// A function of the request. `at` is its entry in "tools".
struct ChatTool {
  std::string name;
  JsonValue at;
  std::optional<JsonValue> schema;  // what stands for an unread one is as PlainSchema() has it
  bool strict = false;
};

// What the grammar and the reader of answers are made from.
struct ChatRequest {
  ChatFamily family;
  std::vector<ChatTool> tools;  // those that may be called, by their names
  bool must_call = false;
  bool parallel = true;
  ChatReasoning reasoning = ChatReasoning::kOff;
  std::optional<std::uint32_t> reasoning_tokens;
  ChatStrictness strictness = ChatStrictness::kParameter;
  bool leave_out_bad_tools = false;
  std::optional<JsonValue> response_format;
};

// Where the schemas of tools stand: the one place of it that may be unread.
std::vector<std::vector<absl::string_view>> PathsOfToolSchemas();

// `root` is the text of a grammar of kind "chat".
absl::StatusOr<ChatRequest> ReadChatRequest(const JsonValue& root);

// An error or remark of a tool begins so.
std::string ToolPlace(const ChatTool& tool);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_CHAT_REQUEST_H_
