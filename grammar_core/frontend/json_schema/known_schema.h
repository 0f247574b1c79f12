// A schema as it was read, for any grammar.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_KNOWN_SCHEMA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_KNOWN_SCHEMA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "grammar_core/base/hash128.h"
#include "grammar_core/frontend/json_schema/rules/schema_steps.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// Constant once made.
struct KnownSchema {
  ReadResult read;
  std::vector<Hash128> hashes;  // of closed nodes (ir/facts/closed_nodes.h)
  bool has_value = false;       // intersections that are empty aside
  // For who puts it into another schema (member_schemas.h); empty where nobody does.
  SchemaSteps steps = {};
  // By rule, as HashRules() has them. In what was put together of members: those of rules that
  // other schemas may have in common, and then the names are hashed, too; Hash128{} for others.
  std::vector<Hash128> rule_hashes = {};

  // Looks whether there is a value, and hashes what is not hashed yet.
  explicit KnownSchema(ReadResult result, std::vector<Hash128> known = {});
  // The schema of a member hashes its rules, too.
  KnownSchema(ReadResult result, SchemaSteps its_steps, std::vector<Hash128> known);
  // What is put together of schemas that have values has values.
  KnownSchema(ReadResult result, std::vector<Hash128> known, std::vector<Hash128> of_rules);

  // Has the processor fetch it for who reads it soon, a step ahead of each time that it has made:
  // 0 this, 1 what this points to, 2 what that points to. Nothing but time depends on it.
  void Fetch(int step) const;

  // Bytes, with this itself.
  [[nodiscard]] std::int64_t held_bytes() const;
};
using SchemaRef = std::shared_ptr<const KnownSchema>;

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_KNOWN_SCHEMA_H_
