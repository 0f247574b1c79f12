// The calls of a response template, turned round to what a family's file says of them.
//
// Errors   as response_template.h says.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_CALL_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_CALL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/chat/response_pattern.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// What opens or closes a field.
struct ResponseAnchor {
  std::string place;
  std::vector<std::string> texts;  // any of them; none where it is a pattern
  std::vector<PatternPiece> pieces;
  [[nodiscard]] bool empty() const { return texts.empty() && pieces.empty(); }
};

// `key` of a field, or its pattern; empty where there is neither.
absl::StatusOr<ResponseAnchor> ReadResponseAnchor(const JsonValue& field, absl::string_view key);

// Members of "calls" in a family's file; empty ones are left out.
struct ResponseCalls {
  std::string trigger;
  std::string begin;
  std::string end;
  std::string separator;
  bool parallel = false;
  std::vector<std::string> call;  // each as JSON
};

// What stands where something is passed over.
struct PassedOver {
  std::optional<std::string> space;  // where white space is, if that is known
  std::string behind_arguments;      // behind elements
};

// `field` is "tool_calls". What ends a turn, one of `turn_ends`, is written by no call.
absl::StatusOr<ResponseCalls> ReadResponseCalls(const JsonValue& field,
                                                const std::vector<std::string>& turn_ends,
                                                const PassedOver& passed_over);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_CALL_H_
