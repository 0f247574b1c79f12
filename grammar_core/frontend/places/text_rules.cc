#include "grammar_core/frontend/places/text_rules.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/ebnf/ebnf_reader.h"
#include "grammar_core/frontend/lark/lark_reader.h"
#include "grammar_core/frontend/notation/source_reading.h"
#include "grammar_core/frontend/places/notation_places.h"

namespace maskd {

std::optional<PlaceNetwork::RuleNo> AddRules(absl::string_view kind, absl::string_view text,
                                             const GrammarOptions& options,
                                             const std::string& pointer, PlaceNetwork& network) {
  const Limits limits;
  Budget budget({.work = kMostPlacesWork});
  SourceReading reading(text, limits, budget);
  if (!reading.cursor.CheckUtf8().ok()) return std::nullopt;
  const auto add = [&](const SourceGrammar& grammar,
                       absl::string_view start) -> std::optional<PlaceNetwork::RuleNo> {
    const Definition* const found = grammar.Find(start);
    if (found == nullptr) return std::nullopt;
    return AddNotation(grammar, reading.builder.ir(), found->symbol, pointer, network);
  };
  if (kind == "lark") {
    LarkReader reader(options, 0, &reading);
    return reader.Read().ok() ? add(reader.grammar(), "start") : std::nullopt;
  }
  if (kind != "gbnf" && kind != "ebnf") return std::nullopt;
  const EbnfDialect dialect = kind == "gbnf" ? EbnfDialect::kGbnf : EbnfDialect::kEbnf;
  SourceGrammar grammar;
  if (!EbnfReader(dialect, &reading, &grammar).Read().ok()) return std::nullopt;
  return add(grammar, "root");
}

}  // namespace maskd
