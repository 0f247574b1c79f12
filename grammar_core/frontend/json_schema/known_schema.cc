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

void FetchBytes(const void* from, std::size_t bytes) {
#ifdef __GNUC__
  constexpr std::size_t kLine = 64;
  const auto* const begin = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(begin + at);
#endif
}

template <typename T>
void FetchAll(const std::vector<T>& elements) {
  FetchBytes(elements.data(), elements.size() * sizeof(T));
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

void KnownSchema::Fetch(int step) const {
  const GrammarIr& ir = read.ir;
  if (step == 0) {
    FetchBytes(this, sizeof(*this));
  } else if (step == 1) {
    FetchAll(ir.nodes);
    FetchAll(hashes);
    FetchAll(ir.children);
    FetchAll(ir.rules);
    FetchAll(rule_hashes);
    FetchAll(ir.objects);
    FetchAll(ir.numbers);
    FetchAll(ir.byte_strings);
    FetchAll(ir.text_sets);
    FetchAll(read.bounds);
  } else {
    for (const ObjectSpec& object : ir.objects) FetchAll(object.members);
    for (const NumberSpec& number : ir.numbers) FetchAll(number.intervals);
    for (const auto& texts : ir.text_sets) FetchAll(texts);
  }
}

std::int64_t KnownSchema::held_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) + BytesOf(read) + HeldBytes(hashes) +
         HeldBytes(steps.ends) + HeldBytes(rule_hashes);
}

}  // namespace maskd
