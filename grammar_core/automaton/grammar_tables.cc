// Made before the first automaton and shared by each one that follows it: what depends on the
// grammar and the vocabulary alone is not made again when a full automaton is replaced.
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
  // A list over the whole vocabulary, so it is made only for grammars that need it.
  std::optional<ItemTokens> item_tokens;
  if (RemembersTexts(ir)) item_tokens.emplace(&index);
  return std::make_shared<const GrammarTables>(
      GrammarTables{*std::move(facts), *std::move(named), std::move(markers), ByteClasses(ir),
                    RowBounds(ir, limits), LimitsTokens(ir), std::move(item_tokens)});
}

std::int64_t GrammarTables::held_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this)) + facts.held_bytes() + named_tokens.held_bytes() +
         (item_tokens.has_value() ? item_tokens->held_bytes() : 0);
}

}  // namespace maskd
