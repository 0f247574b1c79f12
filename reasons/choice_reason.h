// Which choices go on behind a text.
//
// Cost     one comparison for each choice.
// Threads  pure functions.
#ifndef MASKD_REASONS_CHOICE_REASON_H_
#define MASKD_REASONS_CHOICE_REASON_H_

#include <string>

#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "reasons/reason.h"

namespace maskd::reasons {

// `source` is the text of `choices`, a list of strings. kMostRules of those that begin with `taken`
// are named, in the order of the list, each by its index.
Reason ChoiceReason(absl::string_view source, const nlohmann::ordered_json& choices,
                    absl::string_view taken);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_CHOICE_REASON_H_
