#include "playground/sources.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/frontend/rule_places.h"
#include "playground/json_position.h"
#include "playground/notation_span.h"
#include "playground/schema_rules.h"

namespace maskd::playground {
namespace {

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

}  // namespace

Source::Source(absl::string_view kind, std::string text)
    : text_(std::move(text)),
      next_parts_(ReadNextParts({.kind = std::string(kind), .text = text_})),
      is_schema_(kind == "json_schema" || kind == "response_format") {
  if (kind == "response_format") schema_pointer_ = "/json_schema/schema";
  if (!is_schema_) return;
  json_ = nlohmann::ordered_json::parse(text_, nullptr, /*allow_exceptions=*/false);
  is_schema_ = json_.is_object() || json_.is_boolean();
}

Reason Source::ReasonBehind(absl::string_view taken) const {
  if (is_schema_) return SchemaReason(taken);
  return next_parts_ == nullptr ? Reason() : RulesReason(taken);
}

Reason Source::SchemaReason(absl::string_view taken) const {
  Reason reason;
  const JsonPosition position = FindJsonPosition(taken);
  reason.where = DescribePosition(position);
  for (SchemaRule& rule : FindRules(json_, schema_pointer_, position)) {
    const auto span = FindPlace(text_, rule.place);
    if (span.has_value()) reason.rules.push_back({rule.place, std::move(rule.says), *span});
  }
  return reason;
}

Reason Source::RulesReason(absl::string_view taken) const {
  const auto parts = next_parts_->Behind(taken);
  Reason reason;
  if (!parts.has_value()) return reason;
  reason.where = DescribeRules(*parts);
  for (const NextPart& part : *parts) {
    if (reason.rules.size() == kMostRules) break;
    const SourceSpan span = SpanOfNotation(text_, part.at);
    reason.rules.push_back({part.rule, NotationText(text_, span), span});
  }
  return reason;
}

void Sources::Keep(const std::string& grammar_id, absl::string_view kind, const std::string& text) {
  auto source = std::make_shared<const Source>(kind, text);
  const absl::MutexLock lock(&mutex_);
  kept_.remove_if([&](const auto& each) { return each.first == grammar_id; });
  kept_.emplace_front(grammar_id, std::move(source));
  const auto bytes = [&] {
    std::size_t sum = 0;
    for (const auto& each : kept_) sum += each.second->text().size();
    return sum;
  };
  while (kept_.size() > kMost || (kept_.size() > 1 && bytes() > kMostBytes)) kept_.pop_back();
}

std::shared_ptr<const Source> Sources::Find(const std::string& grammar_id) {
  const absl::MutexLock lock(&mutex_);
  const auto found =
      std::ranges::find_if(kept_, [&](const auto& each) { return each.first == grammar_id; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().second;
}

}  // namespace maskd::playground
