// How the values within a value of a schema become IR.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_VALUES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_VALUES_H_

namespace maskd {

// kRules is for those who read the IR: each inner value is a rule.
enum class SchemaValues { kInline, kRules };

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_SCHEMA_VALUES_H_
