// The IR of JSON values, one function a type. What each makes of a merged schema is in the file of
// its name: object_rules.cc, array_rules.cc, string_rules.cc, number_rules.cc, literal_rules.cc.
//
// Errors   an INVALID_ARGUMENT says why no value of the type fits the schema: not the end of the
//          compilation, but of this type.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/merged_schema.h"
#include "grammar_core/frontend/json_schema/string_facets.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Takes an error of the keyword at `at`: it ends the compilation, or the keyword is dropped.
using Refuse = std::function<void(const JsonValue& at, const absl::Status& error)>;

struct RuleContext {
  RuleContext(const GrammarOptions& options, IrBuilder& builder, StringFacets& strings,
              Refuse refuse, std::function<NodeId(const std::vector<JsonId>& schemas)> value);

  const GrammarOptions& options;
  IrBuilder& builder;
  StringFacets& strings;
  const Refuse refuse;
  // The values that satisfy all of the schemas given.
  const std::function<NodeId(const std::vector<JsonId>& schemas)> value;
  // White space between two JSON tokens.
  const NodeId space;
  // Any number.
  const NodeId number;
};

absl::StatusOr<NodeId> ObjectRule(const MergedSchema& schema, RuleContext& context);
absl::StatusOr<NodeId> ArrayRule(const MergedSchema& schema, RuleContext& context);
absl::StatusOr<NodeId> StringRule(const MergedSchema& schema, RuleContext& context);
absl::StatusOr<NodeId> NumberRule(const MergedSchema& schema, RuleContext& context);
// Any number.
NodeId AnyNumberRule(const GrammarOptions& options, IrBuilder& builder);
NodeId SpaceRule(const GrammarOptions& options, IrBuilder& builder);

// Exactly these values: strings and numbers in any spelling, arrays and objects with free white
// space and, unless any order is asked for, their own order of keys.
NodeId LiteralRule(const std::vector<JsonValue>& values, RuleContext& context);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_H_
