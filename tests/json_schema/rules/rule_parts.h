// What the rules of a schema are given. The compiler is not there: a value within a value is one of
// a few known ones, of which those that fit are written.
#ifndef MASKD_TESTS_JSON_SCHEMA_RULES_RULE_PARTS_H_
#define MASKD_TESTS_JSON_SCHEMA_RULES_RULE_PARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json_schema/rules/rules.h"
#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {

// Without white space, so that there is one layout.
inline GrammarOptions CompactOptions() {
  GrammarOptions options;
  options.white_space = WhiteSpace::kCompact;
  return options;
}

// Values that are different from one another.
inline const std::vector<std::string>& KnownItems() {
  static const auto* const items =
      new std::vector<std::string>{"1", "2", R"("a")", R"("b")", "null", "[1]"};
  return *items;
}

// Every array of up to three known items.
inline std::vector<std::string> SmallArrays() {
  std::vector<std::string> inner = {""};
  std::size_t first = 0;
  for (int length = 0; length < 3; ++length) {
    const std::size_t end = inner.size();
    for (; first < end; ++first) {
      for (const std::string& item : KnownItems()) {
        const std::string& before = inner[first];
        inner.push_back(before.empty() ? item : absl::StrCat(before, ",", item));
      }
    }
  }
  for (std::string& items : inner) items = absl::StrCat("[", items, "]");
  return inner;
}

// The parts of a compilation of one schema, and what its rules share.
struct RuleParts : SchemaParts {
  const GrammarOptions options;
  const std::vector<std::string> known;
  RuleContext context;

  explicit RuleParts(absl::string_view schema, const GrammarOptions& its_options = CompactOptions(),
                     std::vector<std::string> known_values = KnownItems())
      : SchemaParts(schema),
        options(its_options),
        known(std::move(known_values)),
        context{.options = options,
                .builder = builder,
                .strings = strings,
                .logic = logic,
                .checker = checker,
                .contradiction = contradiction,
                .choices = choices,
                .refuse =
                    [this](const JsonValue& at, const absl::Status& error) {
                      refused.push_back({at.Pointer(), error});
                    },
                .value = [this](const std::vector<Claim>& claims) { return KnownValues(claims); },
                .string_language = [this](const Claim& claim) { return Characters(claim); },
                .layout = Layout(options, builder),
                .number = AnyNumberRule(options, builder)} {}

  // The grammar of `node` alone; nothing can be made any more.
  GrammarIr GrammarOf(NodeId node) {
    const RuleId rule = builder.DeclareRule("all", "");
    builder.DefineRule(rule, node);
    return *std::move(builder).Build(rule);
  }

 private:
  NodeId KnownValues(const std::vector<Claim>& claims) {
    std::vector<JsonValue> fitting;
    for (const std::string& value : known)
      if (Fits(value, claims)) fitting.push_back(Value(value));
    if (fitting.empty()) return builder.Nothing();
    return LiteralRule(fitting, NumberSpelling::kAny, context);
  }
  absl::StatusOr<NodeId> Characters(const Claim& claim) {
    Conjunction all = logic.Expand({claim});
    all.types &= kStringType;
    const MergedSchema schema = Merge(logic, all);
    if (!schema.has_listed_values()) return StringCharacters(schema, context);
    std::vector<std::string> texts;
    for (const JsonValue& value : schema.ListedValues())
      if (*checker.Fits(value, all, schema)) texts.emplace_back(value.text());
    return builder.TextSet(texts);
  }
};

}  // namespace maskd

#endif  // MASKD_TESTS_JSON_SCHEMA_RULES_RULE_PARTS_H_
