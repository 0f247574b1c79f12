#include "grammar_core/automaton/grammar_tables.h"

#include <utility>

namespace maskd {

absl::StatusOr<std::shared_ptr<const GrammarTables>> GrammarTables::Create(
    const GrammarIr& ir, const TokenIndex& index, const Limits& limits, Budget& budget,
    Measure measure, std::vector<TokenId> markers) {
  absl::StatusOr<GrammarFacts> facts = GrammarFacts::Create(ir, limits, budget, measure);
  if (!facts.ok()) return facts.status();
  absl::StatusOr<NamedTokens> named = NamedTokens::Resolve(ir, index.vocabulary(), budget);
  if (!named.ok()) return named.status();
  std::optional<ItemTokens> item_tokens;
  if (RemembersTexts(ir)) item_tokens.emplace(&index);
  return std::make_shared<const GrammarTables>(
      GrammarTables{*std::move(facts), *std::move(named), std::move(markers), ByteClasses(ir),
                    RowBounds(ir, limits), LimitsTokens(ir), std::move(item_tokens)});
}

}  // namespace maskd
