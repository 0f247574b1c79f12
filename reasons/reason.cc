#include "reasons/reason.h"

#include "absl/strings/str_cat.h"

namespace maskd::reasons {

std::string FirstPlace(const Reason& reason) {
  if (reason.rules.empty()) return "";
  const PlacedRule& rule = reason.rules.front();
  if (rule.place.empty() || rule.place.front() == '/') return rule.place;
  return absl::StrCat(rule.span.line, ":", rule.span.column);
}

}  // namespace maskd::reasons
