#include "grammar_core/frontend/ebnf/ebnf.h"

#include <utility>

#include "grammar_core/frontend/ebnf/ebnf_reader.h"
#include "grammar_core/frontend/notation/grammar_compiler.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> ReadRules(EbnfDialect dialect, const GrammarSource& source,
                                     const Limits& limits, Budget& budget) {
  SourceReading reading(source.text, limits, budget);
  SourceGrammar grammar;
  if (absl::Status status = EbnfReader(dialect, &reading, &grammar).Read(); !status.ok())
    return status;
  if (grammar.Find("root") == nullptr)
    return reading.cursor.Invalid(0, "there is no rule \"root\", with which the text begins");
  const absl::StatusOr<RuleId> start =
      GrammarCompiler(grammar, reading.lines, limits, budget, reading.builder)
          .Compile(grammar.Symbol("root"));
  if (!start.ok()) return start.status();
  return std::move(reading).Result(*start);
}

}  // namespace

absl::StatusOr<ReadResult> ReadGbnf(const GrammarSource& source, const Limits& limits,
                                    Budget& budget) {
  return ReadRules(EbnfDialect::kGbnf, source, limits, budget);
}

absl::StatusOr<ReadResult> ReadEbnf(const GrammarSource& source, const Limits& limits,
                                    Budget& budget) {
  return ReadRules(EbnfDialect::kEbnf, source, limits, budget);
}

}  // namespace maskd
