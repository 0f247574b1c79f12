#include "grammar_core/frontend/regex/regex.h"

#include <utility>

#include "grammar_core/frontend/regex/pattern_reader.h"

namespace maskd {

absl::StatusOr<NodeId> ReadRegex(absl::string_view pattern, const RegexOptions& options,
                                 const Limits& limits, Budget& budget, IrBuilder& builder) {
  return PatternReader(pattern, options, limits, &budget, &builder).Read();
}

absl::StatusOr<ReadResult> ReadRegexGrammar(const GrammarSource& source, const Limits& limits,
                                            Budget& budget) {
  IrBuilder builder(limits);
  const absl::StatusOr<NodeId> characters = ReadRegex(source.text, {}, limits, budget, builder);
  if (!characters.ok()) return characters.status();
  const RuleId start = builder.DeclareRule("regex", "1:1");
  builder.DefineRule(start, builder.Encode(Spelling::kUtf8, *characters));
  absl::StatusOr<GrammarIr> ir = std::move(builder).Build(start);
  if (!ir.ok()) return ir.status();
  ReadResult result;
  result.ir = *std::move(ir);
  return result;
}

}  // namespace maskd
