// Who asked for what, in one line, without anything that a caller wrote: kinds are those of our own
// table, options are names and numbers, and a grammar is its id.
#include "service/grammars/audit.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/frontend/front_end.h"
#include "service/base/log.h"

namespace maskd::service {
namespace {

// Only names of our own table: a kind that a caller made up is his text.
std::string KindOf(const GrammarTarget& target) {
  if (!target.source.has_value()) return "by_id";
  const std::vector<std::string> kinds = FrontEndKinds();
  const auto found = std::find(kinds.begin(), kinds.end(), target.source->kind);
  return found == kinds.end() ? "unknown" : *found;
}

}  // namespace

std::string OptionsText(const GrammarOptions& options) {
  // Only what differs from the default: most requests say nothing.
  const GrammarOptions usual;
  std::vector<std::string> said;
  const auto say = [&said](bool differs, absl::string_view name, const auto& value) {
    if (differs) said.push_back(absl::StrCat(name, ":", value));
  };
  say(options.white_space != usual.white_space, "white_space", "compact");
  say(options.max_whitespace != usual.max_whitespace, "max_whitespace", options.max_whitespace);
  say(options.indent.has_value(), "indent", options.indent.value_or(0));
  say(options.item_separator.has_value(), "item_separator", "given");
  say(options.key_separator.has_value(), "key_separator", "given");
  say(options.property_order != usual.property_order, "property_order", "any");
  say(options.spelling != usual.spelling, "spelling", "canonical");
  say(options.strictness != usual.strictness, "strictness", "relax");
  say(!options.additional_properties, "additional_properties", "false");
  say(options.max_number_digits != usual.max_number_digits, "max_number_digits",
      options.max_number_digits);
  say(options.formats == Formats::kAsserted, "formats", "asserted");
  say(options.formats == Formats::kAnnotations, "formats", "annotations");
  say(options.max_tokens.has_value(), "max_tokens", options.max_tokens.value_or(0));
  say(options.max_characters.has_value(), "max_characters", options.max_characters.value_or(0));
  return said.empty() ? "default" : absl::StrJoin(said, ",");
}

void Audit(const Caller& caller, absl::string_view what, const GrammarTarget& target,
           absl::string_view grammar_id, const absl::Status& verdict) {
  if (!caller.audited) return;
  LogEvent("audit",
           {{"caller", caller.identity},
            {"tenant", caller.tenant == nullptr ? "" : caller.tenant->name()},
            {"what", std::string(what)},
            {"grammar", std::string(grammar_id)},
            {"kind", KindOf(target)},
            {"options", target.source.has_value() ? OptionsText(target.source->options) : "-"},
            {"verdict", absl::StatusCodeToString(verdict.code())}},
           caller.trace);
}

}  // namespace maskd::service
