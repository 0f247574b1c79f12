// From the schemas of a document to IR rules.
//
// A rule stands for a conjunction: claims that must all be true of one value. So allOf and the
// keywords beside a $ref need no rules of their own; their schemas join the set, and each branch of
// a choice makes a set. Sets are finite in number, so recursion through $ref ends. Each set is
// compiled once, from a queue.
//
// Choices  are first freed of what contradicts the claims beside them; those about members of an
//          object become conditions of that object (ObjectFormula), the others branches.
// Depth    no recursion; children of a schema are rules that wait in the queue.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_COMPILER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_COMPILER_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"
#include "grammar_core/frontend/json_schema/logic/value_check.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"
#include "grammar_core/frontend/json_schema/rules/schema_steps.h"
#include "grammar_core/frontend/json_schema/rules/schema_values.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// For one document: Compile() once.
class SchemaCompiler {
 public:
  // The name of the rule that takes every value; others are named by their places.
  static constexpr absl::string_view kAnyValue = "any value";

  // All but the options must outlive this.
  SchemaCompiler(const SchemaSet& schemas, const GrammarOptions& options, SchemaValues values,
                 const Limits& limits, Budget& budget, const SchemaReading& reading = {});

  // The grammar of the values that satisfy the root schema.
  absl::StatusOr<ReadResult> Compile() &&;

 private:
  struct Task {
    RuleId rule;
    Conjunction all;
    std::string place;
  };

  // The values of which all of `claims` are true.
  NodeId Value(const std::vector<Claim>& claims);
  // `place` is asked for only where it is shown.
  NodeId NodeFor(const Conjunction& all, absl::FunctionRef<std::string()> place);
  RuleId Declare(const Conjunction& all, const std::string& place);
  void Define(RuleId rule, const absl::StatusOr<NodeId>& body);

  absl::StatusOr<NodeId> Body(const Task& task);
  absl::StatusOr<NodeId> ChoiceBody(const Conjunction& all, const std::string& place);
  [[nodiscard]] bool AsksForPresence(const Claim& choice) const;
  // One of the choices of `all`, branch by branch; the others wait in each branch.
  absl::StatusOr<NodeId> Branches(const Conjunction& all, std::size_t choice);
  absl::StatusOr<NodeId> LocalBody(const Conjunction& all, const Clauses& clauses);
  absl::StatusOr<NodeId> Types(const MergedSchema& schema, const Clauses& clauses);
  absl::StatusOr<NodeId> Object(const MergedSchema& schema, const Clauses& clauses);
  absl::StatusOr<NodeId> Literals(const MergedSchema& schema, const Conjunction& all);
  // The values of the const or enum in `schema` that satisfy all of it.
  std::vector<JsonValue> FittingValues(const MergedSchema& schema, const Conjunction& all);
  absl::StatusOr<NodeId> StringLanguage(const Conjunction& all, int depth);
  void CheckSupported(const MergedSchema& schema);
  // Ends the compilation, unless what is not supported is to be dropped.
  void Refuse(const JsonValue& at, const absl::Status& status);
  void Fail(const absl::Status& status);
  void Spend(std::int64_t units);
  void NoteBounds();
  // Whether a value of `all`, as `schema` merges it, is put in its place.
  static bool IsPutInPlace(const Conjunction& all, const MergedSchema& schema);
  [[nodiscard]] std::string PlaceOf(const Claim& claim) const;

  const SchemaSet& schemas_;
  const GrammarOptions& options_;
  const SchemaValues values_;
  SchemaSteps* const steps_;
  Budget& budget_;
  IrBuilder builder_;
  // Conjunctions at most.
  const std::int64_t max_sets_;
  StringFacets strings_;
  ClaimLogic logic_;
  ValueChecker checker_;
  Contradiction contradiction_;
  ObjectFormula formula_;
  ChoiceReducer choices_;
  RuleContext context_;
  ReadResult result_;
  absl::Status error_;
  // The place of the set that is being made.
  std::string place_;
  std::deque<Task> queue_;
  // By the conjunction's key.
  absl::flat_hash_map<std::string, NodeId> nodes_;
  // Keywords reported as dropped.
  absl::flat_hash_set<JsonId> dropped_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_COMPILER_H_
