#include "grammar_core/frontend/regex/regex.h"

#include <utility>
#include <vector>

#include "grammar_core/frontend/regex/context_language.h"
#include "grammar_core/frontend/regex/pattern_reader.h"

namespace maskd {
namespace {

// `pattern` with anything before and after it.
ContextLanguage Searched(ContextLanguage pattern, ContextAlgebra& algebra) {
  std::vector<ContextLanguage> parts;
  parts.push_back(algebra.Anything());
  parts.push_back(std::move(pattern));
  parts.push_back(algebra.Anything());
  return algebra.Sequence(parts);
}

}  // namespace

absl::StatusOr<NodeId> ReadRegex(absl::string_view pattern, const RegexOptions& options,
                                 const Limits& limits, Budget& budget, IrBuilder& builder) {
  PatternReader reader(pattern, options, limits, &budget, &builder);
  absl::StatusOr<ContextLanguage> language = reader.Read();
  if (!language.ok()) return language.status();
  if (options.search) language = Searched(*std::move(language), reader.algebra());
  return language->In(Neighbour::kNone, Neighbour::kNone).node;
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
  return ReadResult{*std::move(ir), {}, {}};
}

}  // namespace maskd
