// A family's file, made of the "response_template" of a model's tokenizer_config.json: how
// transformers reads an answer, turned round to what a model writes.
//
// Source   transformers 5.23, "Response Parsing" of its documentation.
// Errors   INVALID_ARGUMENT or UNIMPLEMENTED at a JSON Pointer of the file: what the template
//          passes over, or takes in many spellings, says nothing of what a model writes.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_TEMPLATE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_TEMPLATE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// What a template does not say.
struct ResponseTemplateOptions {
  std::string family;
  std::string models;
  // What a model writes where the template passes white space over in calls. Nothing: a template
  // that does is refused.
  std::optional<std::string> space;
  // What it writes behind a call's elements, where the template passes that over, too.
  std::string behind_arguments;
};

// `text` is a tokenizer_config.json or a template alone. The file ends with a line break.
absl::StatusOr<std::string> FamilyOfResponseTemplate(absl::string_view text,
                                                     const ResponseTemplateOptions& options);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_TEMPLATE_H_
