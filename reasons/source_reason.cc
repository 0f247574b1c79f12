// The network says which parts of the source may come next. What such a part is decides how it is
// shown: a piece of a pattern or of rules by its text, a marker by what it writes, a schema by its
// keywords about the place in the value (schema_rules.h).
//
// Invariant  each rule has a span in the source. A part is left out only where the caller says of
//            every kind of character in it that it may not follow.
// Cost       one walk of the text; a pass over the source for each rule that is named.
#include "reasons/source_reason.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/places/rule_places.h"
#include "reasons/choice_reason.h"
#include "reasons/json_position.h"
#include "reasons/notation_span.h"
#include "reasons/schema_rules.h"
#include "reasons/string_pattern.h"
#include "reasons/styled_position.h"

namespace maskd::reasons {
namespace {

using What = NextPart::What;
using Json = nlohmann::ordered_json;

// "in the rule item", "in the rules item, price"; at most kMostRules of them, without %ignore.
std::string DescribeRules(const std::vector<NextPart>& parts) {
  std::vector<std::string> names;
  for (const NextPart& part : parts) {
    if (part.rule.empty() || part.rule.front() == '%' || names.size() == kMostRules) continue;
    if (std::ranges::find(names, part.rule) == names.end()) names.push_back(part.rule);
  }
  if (names.empty()) return "";
  return absl::StrCat(names.size() == 1 ? "in the rule " : "in the rules ",
                      absl::StrJoin(names, ", "));
}

std::string Describe(const std::vector<NextPart>& parts) {
  const auto is_marker = [](const NextPart& part) { return part.what == What::kMarker; };
  if (std::string rules = DescribeRules(parts); !rules.empty()) return rules;
  if (std::ranges::any_of(parts, is_marker)) return "between the parts of the tag";
  return parts.empty() ? "" : "in the pattern";
}

bool IsJson(absl::string_view kind) {
  return kind == "json_schema" || kind == "response_format" || kind == "structural_tag" ||
         kind == "chat" || kind == "choice";
}

// The byte of a JSON string's source, quotes included, at which the byte `at` of its text stands.
std::size_t ByteInString(absl::string_view source, std::size_t at) {
  std::size_t byte = 1;
  for (std::size_t text = 0; text < at && byte + 1 < source.size();) {
    if (source[byte] != '\\') {
      ++byte;
      ++text;
    } else if (source[byte + 1] != 'u') {
      byte += 2;
      ++text;
    } else {
      // A character of its own, or half of a pair: three bytes of text, or four for both.
      const auto unit = std::strtoul(std::string(source.substr(byte + 2, 4)).c_str(), nullptr, 16);
      const bool is_pair = unit >= 0xD800 && unit < 0xDC00;
      text += is_pair ? 4 : Utf8Bytes(static_cast<std::uint32_t>(unit));
      byte += is_pair ? 12 : 6;
    }
  }
  return std::min(byte, source.size() - 1);
}

SourceSpan SpanOf(absl::string_view source, const NextPart& part) {
  return part.end > 0 ? WithLine(source, {.begin = part.at, .end = part.end})
                      : SpanOfNotation(source, part.at);
}

void Push(PlacedRule rule, Reason* reason) {
  if (reason->rules.size() < kMostRules)
    reason->rules.push_back(std::move(rule));
  else
    ++reason->left_out;
}

}  // namespace

Source::Source(absl::string_view kind, std::string text)
    : kind_(kind), text_(std::move(text)), network_(ReadPlaces({.kind = kind_, .text = text_})) {
  if (IsJson(kind) && text_.size() <= kMostSourceBytes)
    json_ = Json::parse(text_, nullptr, /*allow_exceptions=*/false);
  if (kind != "regex" || network_ == nullptr) return;
  const auto syntax = ReadPatternSyntax(text_);
  if (!syntax.has_value()) return;
  for (const auto& [begin, end] : LookAroundsOf(*syntax)) looks_.push_back({begin, end});
}

// What looks around is not followed: each may be what holds a part.
void Source::AddLooks(std::vector<NextPart>* parts) const {
  for (const Look& look : looks_) parts->push_back({.at = look.begin, .end = look.end});
  std::ranges::sort(*parts, {}, &NextPart::at);
}

Reason Source::ReasonBehind(absl::string_view taken, const IsViable& viable) const {
  if (kind_ == "choice") return ChoiceReason(text_, json_, taken);
  if (network_ == nullptr) return {};
  auto parts = network_->Behind(taken);
  if (!parts.has_value()) return {};
  ViableParts viable_parts(taken, viable);
  if (!network_->exact() && viable_parts.can_say() &&
      viable_parts.LeaveOutDead(*network_, ViableParts::Writing::kPlain, &*parts)) {
    AddLooks(&*parts);
  }
  Reason reason = {.where = Describe(*parts)};
  // Members of a schema say more than the markers beside them.
  std::vector<const NextPart*> order;
  for (const bool is_of_schema : {true, false})
    for (const NextPart& part : *parts)
      if ((part.what == What::kSchema) == is_of_schema) order.push_back(&part);
  for (const NextPart* const part : order)
    if (reason.rules.size() >= kMostRules)
      ++reason.left_out;
    else if (part->what == What::kSchema)
      AddSchema(*part, taken, viable_parts, &reason);
    else
      Push(RuleOf(*part), &reason);
  return reason;
}

void Source::AddSchema(const NextPart& part, absl::string_view taken, ViableParts& viable,
                       Reason* reason) const {
  assert(part.taken_before <= taken.size() && "a value begins in the text");
  const absl::string_view value = taken.substr(part.taken_before);
  const JsonPosition position =
      part.style == nullptr ? FindJsonPosition(value) : FindStyledPosition(*part.style, value);
  reason->where = DescribePosition(position);
  if (part.taken_before > 0) absl::StrAppend(&reason->where, ", of the value for ", part.pointer);
  const std::size_t before = reason->rules.size();
  std::size_t followed = 0;
  for (SchemaRule& rule : FindRules(json_, part.pointer, position)) {
    if (!rule.patterns.empty() && followed + rule.patterns.size() <= kMostPatterns) {
      followed += rule.patterns.size();
      if (AddPatterns(rule, *position.open_string, viable, reason)) continue;
    }
    const auto span = FindPlace(text_, rule.place);
    if (span.has_value()) Push({rule.place, std::move(rule.says), *span}, reason);
  }
  if (part.pointer.empty() || reason->rules.size() > before) return;
  const auto span = FindPlace(text_, part.pointer);
  if (!span.has_value()) return;
  const absl::string_view says = absl::string_view(text_).substr(span->begin);
  const SourceSpan whole = {.begin = 0, .end = span->end - span->begin};
  reason->rules.push_back({part.pointer, NotationText(says, whole), *span});
}

// The parts of the rule's patterns that may come next. False where the rule itself is to be named.
bool Source::AddPatterns(const SchemaRule& rule, const OpenString& string, ViableParts& viable,
                         Reason* reason) const {
  bool is_whole = false;
  bool is_name = false;
  bool has_parts = false;
  for (const SchemaPattern& pattern : rule.patterns) {
    const PatternSays says = WhatPatternSays(pattern.text, string, viable);
    is_whole = is_whole || says.what == PatternSays::What::kWhole;
    is_name = is_name || pattern.is_name;
    has_parts = has_parts || says.what == PatternSays::What::kParts;
    const auto whole =
        pattern.is_name ? FindName(text_, pattern.place) : FindPlace(text_, pattern.place);
    for (const NextPart& part : says.parts)
      Push(RuleWithin(pattern.place, pattern.text, whole, part), reason);
  }
  // A name that none of them goes on with is refused by all.
  return !is_whole && (has_parts || !is_name);
}

PlacedRule Source::RuleOf(const NextPart& part) const {
  if (part.what == What::kText) return RuleOfText(part);
  PlacedRule rule = {.place = part.pointer, .says = part.says};
  const auto span = FindPlace(text_, part.pointer);
  rule.span = span.value_or(SourceSpan());
  return rule;
}

PlacedRule Source::RuleOfText(const NextPart& part) const {
  if (!part.pointer.empty()) {
    const Json::json_pointer pointer(part.pointer);
    const bool is_text = json_.contains(pointer) && json_.at(pointer).is_string();
    const std::string text = is_text ? json_.at(pointer).get<std::string>() : "";
    return RuleWithin(part.pointer, text, FindPlace(text_, part.pointer), part);
  }
  if (part.at >= text_.size()) return {};
  const SourceSpan span = SpanOf(text_, part);
  const std::string at = absl::StrCat(span.line, ":", span.column);
  return {part.rule.empty() ? at : part.rule, NotationText(text_, span), span};
}

// The rule that a part of `text` is; the text stands at `place`: a JSON string, the bytes `whole`.
PlacedRule Source::RuleWithin(const std::string& place, absl::string_view text,
                              const std::optional<SourceSpan>& whole, const NextPart& part) const {
  if (part.at >= text.size()) return {.place = place};
  const SourceSpan within = SpanOf(text, part);
  const std::string says = NotationText(text, within);
  if (!whole.has_value()) return {.place = place, .says = says};
  const absl::string_view raw =
      absl::string_view(text_).substr(whole->begin, whole->end - whole->begin);
  const SourceSpan span = WithLine(text_, {.begin = whole->begin + ByteInString(raw, within.begin),
                                           .end = whole->begin + ByteInString(raw, within.end)});
  const std::string of_rule = part.rule.empty() ? "" : absl::StrCat(part.rule, ": ");
  const std::string at = absl::StrCat(within.line, ":", within.column);
  return {place, absl::StrCat(of_rule, says, ", at ", at, " in it"), span};
}

}  // namespace maskd::reasons
