#include "playground/sources.h"

#include <algorithm>

#include "playground/json_position.h"
#include "playground/schema_rules.h"

namespace maskd::playground {

Source::Source(absl::string_view kind, std::string text)
    : text_(std::move(text)), is_schema_(kind == "json_schema" || kind == "response_format") {
  if (kind == "response_format") schema_pointer_ = "/json_schema/schema";
  if (!is_schema_) return;
  json_ = nlohmann::ordered_json::parse(text_, nullptr, /*allow_exceptions=*/false);
  is_schema_ = json_.is_object() || json_.is_boolean();
}

Reason Source::ReasonBehind(absl::string_view taken) const {
  Reason reason;
  if (!is_schema_) return reason;
  const JsonPosition position = FindJsonPosition(taken);
  reason.where = DescribePosition(position);
  for (SchemaRule& rule : FindRules(json_, schema_pointer_, position)) {
    const auto span = FindPlace(text_, rule.place);
    if (span.has_value()) reason.rules.push_back({rule.place, std::move(rule.says), *span});
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
