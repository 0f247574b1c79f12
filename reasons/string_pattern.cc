#include "reasons/string_pattern.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "grammar_core/frontend/places/pattern_places.h"

namespace maskd::reasons {
namespace {

using What = PatternSays::What;

bool HasMatch(const std::vector<NextPart>& parts) {
  return std::ranges::any_of(
      parts, [](const NextPart& part) { return part.what == NextPart::What::kMarker; });
}

}  // namespace

PatternSays WhatPatternSays(absl::string_view pattern, const OpenString& string,
                            ViableParts& viable) {
  const auto syntax = ReadPatternSyntax(pattern);
  if (!syntax.has_value()) return {};
  const PlaceNetwork network = SearchNetwork(*syntax);
  auto parts = network.Behind(string.text);
  if (!parts.has_value()) return {};
  if (HasMatch(*parts)) return {.what = network.exact() ? What::kNothing : What::kWhole};
  if (parts->empty() && !network.Takes(string.text).value_or(true)) return {.what = What::kNothing};
  if (!network.exact() && viable.can_say() && string.cut_bytes == 0 &&
      viable.LeaveOutDead(network, ViableParts::Writing::kInJsonString, &*parts)) {
    for (const auto& [begin, end] : LookAroundsOf(*syntax))
      parts->push_back({.at = begin, .end = end});
    std::ranges::sort(*parts, {}, &NextPart::at);
  }
  if (parts->empty()) return {};
  return {.what = What::kParts, .parts = *std::move(parts)};
}

}  // namespace maskd::reasons
