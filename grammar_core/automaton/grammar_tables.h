// What all automatons of one grammar have in common, made once.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_GRAMMAR_TABLES_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_GRAMMAR_TABLES_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/automaton/item_tokens.h"
#include "grammar_core/automaton/row_bounds.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/named_tokens.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/ir/facts/measure.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/mask/token_index.h"

namespace maskd {

// Shared by all automatons of a grammar; whoever holds an automaton holds these.
struct GrammarTables {
  // `ir` and `index` must outlive the tables. Errors: RESOURCE_EXHAUSTED; INVALID_ARGUMENT for a
  // token that the grammar names and the vocabulary does not have. `markers`: see below.
  static absl::StatusOr<std::shared_ptr<const GrammarTables>> Create(
      const GrammarIr& ir, const TokenIndex& index, const Limits& limits, Budget& budget,
      Measure measure, std::vector<TokenId> markers = {});

  // Bytes of the tables; the IR, the index and the vocabulary are not theirs.
  [[nodiscard]] std::int64_t held_bytes() const;

  // Whether `id` is taken by name alone; whether the grammar names any token.
  [[nodiscard]] bool IsMarker(TokenId id) const { return std::ranges::binary_search(markers, id); }
  [[nodiscard]] bool names_tokens() const { return !named_tokens.none(); }
  // Whether the grammar takes token `id` of `vocabulary`, which the tables were made for, by its
  // bytes where they fit: neither a special token nor a marker.
  [[nodiscard]] bool IsText(TokenId id, const Vocabulary& vocabulary) const {
    return !vocabulary.IsSpecial(id) && !IsMarker(id) && !vocabulary.TokenBytes(id).empty();
  }
  // Whether rows are to remember what they write (see RowStates).
  [[nodiscard]] bool remembers() const { return item_tokens.has_value(); }
  // What lower bounds count.
  [[nodiscard]] Measure measure() const { return facts.measure(); }

  GrammarFacts facts;
  NamedTokens named_tokens;
  // Tokens that are taken by name alone, whatever their bytes; ascending.
  std::vector<TokenId> markers;
  ByteClasses classes;
  RowBounds row_bounds;
  bool limits_tokens;  // a part of the grammar has a bound of tokens
  // Where rows are to remember what they write (see RowStates); else nothing.
  std::optional<ItemTokens> item_tokens;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_GRAMMAR_TABLES_H_
