// Each kind adds its rules to one network. A JSON Schema is one edge, since what of it speaks about
// a place is found by the place in the JSON; so is the schema in a response format or in a tag.
//
// Invariant  pointers are those of the source that was given, whatever stands in what.
// Cost       that of reading the source once.
#include "grammar_core/frontend/places/rule_places.h"

#include <cassert>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/places/chat_places.h"
#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/places/tag_places.h"
#include "grammar_core/frontend/places/text_rules.h"
#include "grammar_core/frontend/structural_tag/format.h"

namespace maskd {
namespace {

using RuleNo = PlaceNetwork::RuleNo;
using MaybeRule = std::optional<RuleNo>;

MaybeRule AddSchema(const std::string& pointer, PlaceNetwork& network) {
  const RuleNo rule = network.NewRule();
  network.SetPart(rule, {.what = NextPart::What::kSchema, .pointer = pointer});
  network.Add(network.begin(rule), PlaceNetwork::Way::kJson, 0, network.end(rule));
  return rule;
}

MaybeRule AddWholePattern(absl::string_view pattern, const std::string& pointer,
                          PlaceNetwork& network) {
  const auto syntax = ReadPatternSyntax(pattern);
  if (!syntax.has_value()) return std::nullopt;
  return AddPattern(*syntax, pointer, /*at_begin=*/true, network);
}

MaybeRule AddTag(const JsonValue& root, PlaceNetwork& network) {
  Budget budget({.work = kMostPlacesWork});
  const auto formats = ReadFormats(root, budget);
  if (!formats.ok()) return std::nullopt;
  const auto place_of = [](const TagFormat& format, absl::string_view key) {
    return key.empty() ? format.at.Pointer() : absl::StrCat(format.at.Pointer(), "/", key);
  };
  return AddFormats(*formats, place_of, network);
}

MaybeRule AddText(absl::string_view kind, const JsonValue& text, const GrammarOptions& options,
                  PlaceNetwork& network) {
  if (kind == "regex") return AddWholePattern(text.text(), text.Pointer(), network);
  return AddRules(kind, text.text(), options, text.Pointer(), network);
}

// The first of the members that there is; "" where there is none.
std::optional<JsonValue> FirstOf(const JsonValue& root,
                                 std::initializer_list<absl::string_view> keys) {
  for (const absl::string_view key : keys) {
    const std::optional<JsonValue> member = root.Find(key);
    if (member.has_value() && member->is_string()) return member;
  }
  return std::nullopt;
}

MaybeRule AddResponseFormat(const JsonValue& root, const GrammarOptions& options,
                            PlaceNetwork& network) {
  const absl::string_view type = root.FindText("type");
  if (type == "structural_tag") return AddTag(root, network);
  if (type == "json_schema") return AddSchema("/json_schema/schema", network);
  if (type == "json_object") return AddSchema("/type", network);
  if (type == "regex") {
    const std::optional<JsonValue> text = FirstOf(root, {"pattern", "regex", "value"});
    return text.has_value() ? AddText("regex", *text, options, network) : std::nullopt;
  }
  const std::optional<JsonValue> text = FirstOf(root, {"grammar", "definition"});
  if (type != "grammar" || !text.has_value()) return std::nullopt;
  const std::optional<JsonValue> syntax = FirstOf(root, {"syntax"});
  return AddText(syntax.has_value() ? syntax->text() : "gbnf", *text, options, network);
}

MaybeRule AddJson(const GrammarSource& source, PlaceNetwork& network) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(source.text, Limits());
  if (!document.ok()) return std::nullopt;
  if (source.kind == "structural_tag") return AddTag(document->root(), network);
  if (source.kind == "chat") return AddChat(document->root(), network);
  assert(source.kind == "response_format");
  return AddResponseFormat(document->root(), source.options, network);
}

MaybeRule AddSource(const GrammarSource& source, PlaceNetwork& network) {
  if (source.kind == "json_schema") return AddSchema("", network);
  if (source.kind == "regex") return AddWholePattern(source.text, "", network);
  if (source.kind == "structural_tag" || source.kind == "chat" || source.kind == "response_format")
    return AddJson(source, network);
  return AddRules(source.kind, source.text, source.options, "", network);
}

}  // namespace

std::unique_ptr<const PlaceNetwork> ReadPlaces(const GrammarSource& source) {
  if (source.text.size() > kMostSourceBytes) return nullptr;
  auto network = std::make_unique<PlaceNetwork>();
  const MaybeRule start = AddSource(source, *network);
  if (!start.has_value() || network->full()) return nullptr;
  network->SetStart(*start);
  return network;
}

}  // namespace maskd
