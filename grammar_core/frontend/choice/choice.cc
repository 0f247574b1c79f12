#include "grammar_core/frontend/choice/choice.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

// The distinct strings of `list`; what occurs again is a warning.
absl::StatusOr<std::vector<std::string>> DistinctStrings(const JsonValue& list, Budget& budget,
                                                         std::vector<Diagnostic>* warnings) {
  absl::flat_hash_set<absl::string_view> seen;
  std::vector<std::string> strings;
  for (const JsonValue choice : list.children()) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    if (!choice.is_string()) return InvalidAt(choice.Pointer(), "a choice must be a string");
    if (seen.insert(choice.text()).second)
      strings.emplace_back(choice.text());
    else
      AddWarning({choice.Pointer(), "the same choice stands before"}, warnings);
  }
  return strings;
}

}  // namespace

absl::StatusOr<ReadResult> ReadChoice(JsonDocument document, const GrammarSource&,
                                      const Limits& limits, Budget& budget) {
  const JsonValue list = document.root();
  if (!list.is_array()) return InvalidAt("", "a choice grammar is a JSON list of strings");
  if (list.size() == 0) return InvalidAt("", "the list of choices is empty");
  ReadResult result;
  absl::StatusOr<std::vector<std::string>> strings =
      DistinctStrings(list, budget, &result.warnings);
  if (!strings.ok()) return strings.status();
  IrBuilder builder(limits);
  const RuleId start = builder.DeclareRule("choice", "");
  builder.DefineRule(start, builder.Encode(Spelling::kUtf8, builder.TextSet(*strings)));
  absl::StatusOr<GrammarIr> ir = std::move(builder).Build(start);
  if (!ir.ok()) return ir.status();
  result.ir = *std::move(ir);
  return result;
}

}  // namespace maskd
