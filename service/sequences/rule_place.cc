#include "service/sequences/rule_place.h"

#include "grammar_core/matcher/matcher.h"
#include "reasons/source_reason.h"

namespace maskd::service {

RulePlace RulePlaceBehind(const cache::GrammarPtr& grammar, absl::string_view taken) {
  const auto is_viable = [&](absl::string_view text) {
    const absl::StatusOr<Matcher::TextMatch> match = Matcher(grammar).MatchText(text);
    // What takes too long to say may follow.
    return !match.ok() || static_cast<std::size_t>(match->matched_bytes) == text.size();
  };
  const GrammarSource& source = grammar->source();
  const reasons::Reason reason =
      reasons::Source(source.kind, source.text).ReasonBehind(taken, is_viable);
  if (reason.rules.empty()) return {};
  const reasons::SourceSpan& span = reason.rules.front().span;
  return {.place = FirstPlace(reason), .begin = span.begin, .end = span.end};
}

}  // namespace maskd::service
