// The front end of "choice": a JSON list of strings, one of which is the whole text, as UTF-8.
//
// The empty string is a choice like any other. A string that occurs twice is a warning.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHOICE_CHOICE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHOICE_CHOICE_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// `document` is source.text, parsed. Errors: INVALID_ARGUMENT at a JSON Pointer, for what is no
// list of strings.
absl::StatusOr<ReadResult> ReadChoice(JsonDocument document, const GrammarSource& source,
                                      const Limits& limits, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHOICE_CHOICE_H_
