#include "grammar_core/frontend/json_schema/known_schema.h"

#include <utility>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/ir/facts/closed_nodes.h"
#include "grammar_core/ir/facts/rule_hashes.h"
#include "grammar_core/ir/ir_bytes.h"
#include "grammar_core/ir/passes/productive_nodes.h"

namespace maskd {
namespace {

bool HasValue(const GrammarIr& ir) {
  if (IsSurelyProductive(ir)) return true;
  Budget budget{Budget::Bounds()};
  const absl::StatusOr<std::vector<bool>> productive = ProductiveNodes(ir, budget);
  return productive.ok() && (*productive)[ir.rules[ir.start].body];
}

std::int64_t BytesOf(const ReadResult& read) {
  const auto of_diagnostic = [](const Diagnostic& one) {
    return HeldBytes(one.place) + HeldBytes(one.message);
  };
  std::int64_t bytes = HeldBytes(read.ir) + HeldBytes(read.warnings, of_diagnostic) +
                       HeldBytes(read.bounds, of_diagnostic) + TableBytes(read.faults);
  for (const auto& [rule, fault] : read.faults)
    bytes += static_cast<std::int64_t>(fault.message().size());
  return bytes;
}

}  // namespace

KnownSchema::KnownSchema(ReadResult result, std::vector<Hash128> known)
    : read(std::move(result)),
      hashes(HashClosedNodes(read.ir, std::move(known))),
      has_value(HasValue(read.ir)) {}

KnownSchema::KnownSchema(ReadResult result, SchemaSteps its_steps, std::vector<Hash128> known)
    : KnownSchema(std::move(result), std::move(known)) {
  steps = std::move(its_steps);
  if (!steps.is_in_place) rule_hashes = HashRules(read.ir, hashes);
}

KnownSchema::KnownSchema(ReadResult result, std::vector<Hash128> known,
                         std::vector<Hash128> of_rules)
    : read(std::move(result)),
      hashes(HashClosedNodes(read.ir, std::move(known))),
      has_value(true),
      rule_hashes(std::move(of_rules)) {}

std::int64_t KnownSchema::held_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) + BytesOf(read) + HeldBytes(hashes) +
         HeldBytes(steps.ends) + HeldBytes(rule_hashes);
}

}  // namespace maskd
