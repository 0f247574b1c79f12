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

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/places/rule_places.h"
#include "reasons/choice_reason.h"
#include "reasons/json_position.h"
#include "reasons/notation_span.h"
#include "reasons/schema_rules.h"
#include "reasons/styled_position.h"

namespace maskd::reasons {
namespace {

using What = NextPart::What;
using Json = nlohmann::ordered_json;

// Kinds of characters of one part that are asked about; of a part with more nothing is left out.
constexpr std::size_t kMostKinds = 16;

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

namespace {

// One character of each kind in `set`, ascending; of more than kMostKinds one more than those.
std::vector<std::uint32_t> OneOfEach(const CharSet& set, const std::vector<std::uint32_t>& bounds) {
  std::vector<std::uint32_t> characters;
  for (const CharRange& range : set.ranges()) {
    characters.push_back(range.lo);
    auto bound = std::ranges::upper_bound(bounds, range.lo);
    for (; bound != bounds.end() && *bound <= range.hi; ++bound) {
      if (characters.size() > kMostKinds) return characters;
      characters.push_back(*bound);
    }
    if (characters.size() > kMostKinds) return characters;
  }
  return characters;
}

}  // namespace

// True where some character of a part may not follow: then it is held by more than its part.
bool Source::LeaveOutDead(absl::string_view taken, const IsViable& viable,
                          std::vector<NextPart>* parts) const {
  const std::vector<std::uint32_t> bounds = network_->Bounds();
  const std::size_t most =
      std::min(kMostViable, kMostViableBytes / std::max<std::size_t>(taken.size(), 1));
  std::size_t asked = 0;
  bool is_held = false;
  std::erase_if(*parts, [&](const NextPart& part) {
    // What the network takes for any text, it cannot tell apart.
    const bool is_open = part.what == What::kSchema || part.next == CharSet::All();
    const bool asks = !is_open && asked < most;
    const std::vector<std::uint32_t> characters =
        asks ? OneOfEach(part.next, bounds) : std::vector<std::uint32_t>();
    bool is_dead = !characters.empty() && characters.size() <= kMostKinds;
    for (const std::uint32_t character : characters) {
      if (++asked > most) return false;
      std::string text(taken);
      AppendUtf8(character, &text);
      const bool follows = viable(text);
      is_held = is_held || !follows;
      is_dead = is_dead && !follows;
    }
    return is_dead;
  });
  return is_held;
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
  const bool asks = !network_->exact() && viable != nullptr && Utf8ToCodePoints(taken).has_value();
  if (asks && LeaveOutDead(taken, viable, &*parts)) AddLooks(&*parts);
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
      AddSchema(*part, taken, &reason);
    else
      reason.rules.push_back(RuleOf(*part));
  return reason;
}

void Source::AddSchema(const NextPart& part, absl::string_view taken, Reason* reason) const {
  assert(part.taken_before <= taken.size() && "a value begins in the text");
  const absl::string_view value = taken.substr(part.taken_before);
  const JsonPosition position =
      part.style == nullptr ? FindJsonPosition(value) : FindStyledPosition(*part.style, value);
  reason->where = DescribePosition(position);
  if (part.taken_before > 0) absl::StrAppend(&reason->where, ", of the value for ", part.pointer);
  const std::size_t before = reason->rules.size();
  for (SchemaRule& rule : FindRules(json_, part.pointer, position)) {
    const auto span = FindPlace(text_, rule.place);
    if (span.has_value()) reason->rules.push_back({rule.place, std::move(rule.says), *span});
  }
  if (part.pointer.empty() || reason->rules.size() > before) return;
  const auto span = FindPlace(text_, part.pointer);
  if (!span.has_value()) return;
  const absl::string_view says = absl::string_view(text_).substr(span->begin);
  const SourceSpan whole = {.begin = 0, .end = span->end - span->begin};
  reason->rules.push_back({part.pointer, NotationText(says, whole), *span});
}

PlacedRule Source::RuleOf(const NextPart& part) const {
  if (part.what == What::kText) return RuleOfText(part);
  PlacedRule rule = {.place = part.pointer, .says = part.says};
  const auto span = FindPlace(text_, part.pointer);
  rule.span = span.value_or(SourceSpan());
  return rule;
}

PlacedRule Source::RuleOfText(const NextPart& part) const {
  const bool is_whole = part.pointer.empty();
  std::string text;
  if (!is_whole) {
    const Json::json_pointer pointer(part.pointer);
    if (json_.contains(pointer) && json_.at(pointer).is_string())
      text = json_.at(pointer).get<std::string>();
  }
  const absl::string_view source = is_whole ? absl::string_view(text_) : text;
  if (part.at >= source.size()) return {.place = part.pointer};
  const SourceSpan within = part.end > 0 ? WithLine(source, {.begin = part.at, .end = part.end})
                                         : SpanOfNotation(source, part.at);
  const std::string says = NotationText(source, within);
  const std::string at = absl::StrCat(within.line, ":", within.column);
  if (is_whole) return {part.rule.empty() ? at : part.rule, says, within};
  const auto whole = FindPlace(text_, part.pointer);
  if (!whole.has_value()) return {.place = part.pointer, .says = says};
  const absl::string_view raw =
      absl::string_view(text_).substr(whole->begin, whole->end - whole->begin);
  const SourceSpan span = WithLine(text_, {.begin = whole->begin + ByteInString(raw, within.begin),
                                           .end = whole->begin + ByteInString(raw, within.end)});
  const std::string of_rule = part.rule.empty() ? "" : absl::StrCat(part.rule, ": ");
  return {part.pointer, absl::StrCat(of_rule, says, ", at ", at, " in it"), span};
}

}  // namespace maskd::reasons
