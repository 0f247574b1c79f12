#include "reasons/choice_reason.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "reasons/notation_span.h"
#include "reasons/schema_rules.h"

namespace maskd::reasons {
namespace {

std::string Shortened(absl::string_view text) {
  return NotationText(text, {.begin = 0, .end = text.size()});
}

// What a choice wants, of which `taken` is a beginning. Both may be cut within a character.
std::string Wants(absl::string_view choice, absl::string_view taken) {
  if (choice == taken) return absl::StrCat("\"", Shortened(choice), "\" ends here");
  return absl::StrCat("\"", Shortened(choice), "\" goes on with \"",
                      Shortened(choice.substr(taken.size())), "\"");
}

}  // namespace

Reason ChoiceReason(absl::string_view source, const nlohmann::ordered_json& choices,
                    absl::string_view taken) {
  Reason reason;
  if (!choices.is_array()) return reason;
  std::size_t count = 0;
  for (std::size_t index = 0; index < choices.size(); ++index) {
    if (!choices[index].is_string()) continue;
    const auto& choice = choices[index].get_ref<const std::string&>();
    if (!absl::StartsWith(choice, taken) || ++count > kMostRules) continue;
    const std::string place = absl::StrCat("/", index);
    const auto span = FindPlace(source, place);
    if (span.has_value()) reason.rules.push_back({place, Wants(choice, taken), *span});
  }
  reason.where = absl::StrCat("where ", count, " of ", choices.size(), " choices go on");
  reason.left_out = count - reason.rules.size();
  return reason;
}

}  // namespace maskd::reasons
