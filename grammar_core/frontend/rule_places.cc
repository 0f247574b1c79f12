#include "grammar_core/frontend/rule_places.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/ebnf/ebnf_reader.h"
#include "grammar_core/frontend/lark/lark_reader.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {
namespace {

// A few hundred milliseconds: a page waits for it.
constexpr std::int64_t kMostWork = 1'000'000;

std::unique_ptr<const NextParts> NetworkOf(SourceGrammar grammar, const SourceReading& reading,
                                           absl::string_view start) {
  if (grammar.Find(start) == nullptr) return nullptr;
  return std::make_unique<const NextParts>(grammar, reading.builder.ir(), grammar.Symbol(start));
}

}  // namespace

std::unique_ptr<const NextParts> ReadNextParts(const GrammarSource& source) {
  const Limits limits;
  Budget budget({.work = kMostWork});
  SourceReading reading(source.text, limits, budget);
  if (!reading.cursor.CheckUtf8().ok()) return nullptr;
  if (source.kind == "lark") {
    LarkReader reader(source.options, 0, &reading);
    return reader.Read().ok() ? NetworkOf(reader.grammar(), reading, "start") : nullptr;
  }
  if (source.kind != "gbnf" && source.kind != "ebnf") return nullptr;
  const EbnfDialect dialect = source.kind == "gbnf" ? EbnfDialect::kGbnf : EbnfDialect::kEbnf;
  SourceGrammar grammar;
  if (!EbnfReader(dialect, &reading, &grammar).Read().ok()) return nullptr;
  return NetworkOf(std::move(grammar), reading, "root");
}

}  // namespace maskd
