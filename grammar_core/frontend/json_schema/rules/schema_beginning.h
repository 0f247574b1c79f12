// The nodes that the IR of each schema begins with, which options and limits decide.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_BEGINNING_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_BEGINNING_H_

#include <vector>

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/rules/layout.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"
#include "grammar_core/ir/facts/closed_nodes.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Made once, for many schemas that begin with a copy of it.
struct SchemaBeginning {
  IrBuilder builder;
  Layout layout;
  NodeId number;                // any
  std::vector<Hash128> hashes;  // HashClosedNodes() of its nodes

  // The builder has an error where the limits have no room for it.
  SchemaBeginning(const GrammarOptions& options, const Limits& limits)
      : builder(limits),
        layout(options, builder),
        number(AnyNumberRule(options, builder)),
        hashes(HashClosedNodes(builder.ir())) {}
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_BEGINNING_H_
