// What the reading of one schema may take from that of another, and what it tells for that.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_STEPS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_STEPS_H_

#include <cstdint>
#include <vector>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

struct SchemaBeginning;

// In which order the nodes and rules of a schema's IR were made, values put in their place.
struct SchemaSteps {
  // How many there were when a rule was defined, by rule.
  struct End {
    NodeId nodes;
    RuleId rules;
  };
  // Whether the schema, as that of a member, has no rule but is put in its place.
  bool is_in_place = false;
  std::int64_t sets = 0;  // of claims
  NodeId first = 0;       // behind the beginning and the call of the root
  std::vector<End> ends = {};
};

// Of one reading. Both may be null.
struct SchemaReading {
  const SchemaBeginning* beginning = nullptr;
  SchemaSteps* steps = nullptr;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_STEPS_H_
