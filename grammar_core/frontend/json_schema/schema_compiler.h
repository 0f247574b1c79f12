// From the schemas of a document to IR rules.
//
// A rule stands for a conjunction: a set of schemas that must all hold for one value. So allOf and
// the keywords beside a $ref need no rules of their own; their schemas join the set, and anyOf
// makes one set a branch. Sets are finite in number, so recursion through $ref ends. Each set is
// compiled once, from a queue.
//
// Depth    no recursion; children of a schema are rules that wait in the queue.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_COMPILER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_COMPILER_H_

#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/rules.h"
#include "grammar_core/frontend/json_schema/value_check.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

class SchemaCompiler {
 public:
  SchemaCompiler(const SchemaSet& schemas, const GrammarOptions& options, const Limits& limits,
                 Budget& budget);

  // The grammar of the values that satisfy the root schema.
  absl::StatusOr<ReadResult> Compile() &&;

 private:
  struct Task {
    RuleId rule;
    Conjunction all;
  };

  // The values that satisfy all of `schemas`.
  NodeId Value(const std::vector<JsonId>& schemas);
  NodeId NodeFor(const Conjunction& all, const std::string& place);
  RuleId Declare(const Conjunction& all, const std::string& place);
  void Define(RuleId rule, const absl::StatusOr<NodeId>& body);

  absl::StatusOr<NodeId> Body(const Conjunction& all);
  absl::StatusOr<NodeId> Branches(const Conjunction& all);
  absl::StatusOr<NodeId> LocalBody(const std::vector<JsonId>& locals);
  absl::StatusOr<NodeId> Types(const MergedSchema& schema);
  absl::StatusOr<NodeId> Literals(const MergedSchema& schema);
  // The values of the const or enum in `schema` that satisfy all of it.
  std::vector<JsonValue> FittingValues(const MergedSchema& schema);
  void CheckSupported(const MergedSchema& schema);
  // Ends the compilation, unless what is not supported is to be dropped.
  void Refuse(const JsonValue& at, const absl::Status& status);
  void Fail(const absl::Status& status);

  const SchemaSet& schemas_;
  const GrammarOptions& options_;
  Budget& budget_;
  IrBuilder builder_;
  // Conjunctions at most.
  const std::int64_t max_sets_;
  StringFacets strings_;
  RuleContext context_;
  ValueChecker checker_;
  ReadResult result_;
  absl::Status error_;
  std::deque<Task> queue_;
  // By the conjunction's ids, byte for byte.
  absl::flat_hash_map<std::string, NodeId> nodes_;
  // Keywords reported as dropped.
  absl::flat_hash_set<JsonId> dropped_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_COMPILER_H_
