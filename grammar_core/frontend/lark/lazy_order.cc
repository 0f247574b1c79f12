// For each place where terminals may come together, the lazy ones among them are collected. Each
// terminal there is then written anew as the intersection of its texts with the complement of those
// that begin with a lazy text. A terminal is held once, so all its places must agree.
//
// Invariant  a definition that is not changed keeps its expressions; one that is keeps their order.
// Cost       one set of lazy rules for each terminal and place; one definition for each set that
//            occurs; the expressions of a changed definition are copied.
// Source     places by Glushkov (1961), see lazy_places.cc.
#include "grammar_core/frontend/lark/lazy_order.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/lark/lazy_places.h"

namespace maskd {
namespace {

// Terminals that hold the texts with a beginning in some lazy terminals, and definitions rewritten
// with what their terminals may not begin with.
class LazyWriter {
 public:
  LazyWriter(SourceReading& reading, SourceGrammar& grammar)
      : reading_(reading), grammar_(grammar) {}

  // Has the terminal `leaf` hold no text that begins with one of `lazy`.
  void Hold(const LazyLeaf& leaf, const std::set<std::uint32_t>& lazy) {
    held_[leaf.definition][leaf.expression] = BeginningWith(lazy, leaf.is_lazy());
  }

  void WriteAnew() {
    std::map<std::uint32_t, std::uint32_t> anew;
    for (const auto& [definition, leaves] : held_)
      anew[definition] = WrittenAnew(definition, leaves);
    // What %extend goes on from is defined under another name.
    for (std::optional<std::uint32_t>& definition : grammar_.definition_of) {
      const auto found = definition.has_value() ? anew.find(*definition) : anew.end();
      if (found != anew.end()) definition = found->second;
    }
  }

 private:
  // A definition of the texts of the lazy rule `definition` and all that begin with one.
  SymbolId TextsOf(std::uint32_t definition) {
    const SymbolId symbol = grammar_.Symbol(absl::StrCat("%lazy ", definition));
    if (grammar_.definition_of[symbol].has_value()) return symbol;
    Definition texts = grammar_.definitions[definition];
    texts.symbol = symbol;
    texts.body = LazyBody(grammar_, texts.body);
    texts.terminal = true;
    grammar_.Define(texts);
    return symbol;
  }

  // A definition of the texts that begin with one of the lazy rules `lazy`, `more` than that.
  SymbolId BeginningWith(const std::set<std::uint32_t>& lazy, bool more) {
    assert(!lazy.empty());
    const auto [made, is_new] = beginning_.try_emplace({lazy, more}, 0);
    if (!is_new) return made->second;
    std::vector<SymbolId> texts;
    for (const std::uint32_t definition : lazy) texts.push_back(TextsOf(definition));
    const std::size_t at = grammar_.definitions[*lazy.begin()].at;
    const auto first = static_cast<ExprId>(grammar_.expressions.size());
    std::vector<ExprId> ways;
    for (const SymbolId symbol : texts) ways.push_back(Named(symbol, at));
    const ExprId any = grammar_.Add(
        {.kind = ExprKind::kCharacters, .a = reading_.builder.AnyChar(), .b = 1, .at = at});
    const ExprId rest = grammar_.Add(
        {.kind = ExprKind::kRepeat, .a = more ? 1U : 0U, .b = kUnbounded, .at = at}, {any});
    const ExprId choice = grammar_.Add({.kind = ExprKind::kChoice, .at = at}, ways);
    const ExprId body = grammar_.Add({.kind = ExprKind::kSequence, .at = at}, {choice, rest});
    made->second = grammar_.Symbol(absl::StrCat("%behind lazy ", beginning_.size()));
    grammar_.Define(
        {.symbol = made->second, .at = at, .first = first, .body = body, .terminal = true});
    return made->second;
  }

  ExprId Named(SymbolId symbol, std::size_t at) {
    return grammar_.Add(
        {.kind = ExprKind::kName, .use = ExprUse::kCharacters, .a = symbol, .at = at});
  }

  // The number of a definition like `definition` whose `leaves` are held. Children keep their
  // order, so that those of a definition are one row.
  std::uint32_t WrittenAnew(std::uint32_t definition, const std::map<ExprId, SymbolId>& leaves) {
    Definition anew = grammar_.definitions[definition];
    std::vector<ExprId> places;
    const ExprId old_first = anew.first;
    anew.first = static_cast<ExprId>(grammar_.expressions.size());
    for (ExprId id = old_first; id <= anew.body; ++id) {
      Expression expression = grammar_.expressions[id];
      std::vector<ExprId> children;
      for (std::uint32_t i = 0; i < expression.child_count; ++i)
        children.push_back(places[grammar_.children[expression.first_child + i] - old_first]);
      if (expression.kind == ExprKind::kIf) expression.b = places[expression.b - old_first];
      const auto held = leaves.find(id);
      places.push_back(held == leaves.end() ? grammar_.Add(expression, children)
                                            : Without(expression, children, held->second));
    }
    anew.body = places.back();
    grammar_.definitions.push_back(anew);
    return static_cast<std::uint32_t>(grammar_.definitions.size() - 1);
  }

  // `expression` without the texts of `symbol`; what may be ignored stands behind it as before.
  ExprId Without(Expression expression, const std::vector<ExprId>& children, SymbolId symbol) {
    const bool is_lexeme =
        expression.kind == ExprKind::kLexeme ||
        (expression.kind == ExprKind::kName && expression.use == ExprUse::kLexeme);
    ExprId texts = 0;
    if (expression.kind == ExprKind::kLexeme) {
      texts = children[0];
    } else {
      if (expression.kind == ExprKind::kName) expression.use = ExprUse::kCharacters;
      texts = grammar_.Add(expression, children);
    }
    const ExprId others =
        grammar_.Add({.kind = ExprKind::kNot, .at = expression.at}, {Named(symbol, expression.at)});
    const ExprId both =
        grammar_.Add({.kind = ExprKind::kBoth, .at = expression.at}, {texts, others});
    return is_lexeme ? grammar_.Add({.kind = ExprKind::kLexeme, .at = expression.at}, {both})
                     : both;
  }

  SourceReading& reading_;
  SourceGrammar& grammar_;
  std::map<std::pair<std::set<std::uint32_t>, bool>, SymbolId> beginning_;
  std::map<std::uint32_t, std::map<ExprId, SymbolId>> held_;  // by definition
};

class LazyOrder {
 public:
  LazyOrder(SourceReading& reading, SourceGrammar& grammar)
      : reading_(reading), grammar_(grammar), places_(grammar, reading) {}

  absl::Status Run(SymbolId start) {
    if (absl::Status status = places_.Find(*grammar_.definition_of[start]); !status.ok())
      return status;
    beside_.resize(places_.leaves().size());
    for (const std::vector<std::uint32_t>& place : places_.places())
      if (absl::Status status = LookAt(place); !status.ok()) return status;
    for (const LazyLeaf& leaf : places_.leaves()) {
      const Expression& e = grammar_.expressions[leaf.expression];
      const bool is_template = e.use == ExprUse::kRule && e.child_count > 0 &&
                               (e.kind == ExprKind::kName || e.kind == ExprKind::kIndexed);
      if (is_template) return Unsupported(leaf, "a template of rules in a grammar with lazy rules");
    }
    LazyWriter writer(reading_, grammar_);
    for (std::size_t i = 0; i < beside_.size(); ++i) {
      if (!beside_[i].has_value()) continue;
      const LazyLeaf& leaf = places_.leaves()[i];
      if (absl::Status status = CheckAgree(leaf, *beside_[i]); !status.ok()) return status;
      if (beside_[i]->empty()) continue;
      if (leaf.is_opaque) return Unsupported(leaf, "beside a lazy rule, what is no terminal");
      writer.Hold(leaf, *beside_[i]);
    }
    writer.WriteAnew();
    return absl::OkStatus();
  }

 private:
  // `place`: terminals that may come together.
  absl::Status LookAt(const std::vector<std::uint32_t>& place) {
    std::set<std::uint32_t> lazy;
    for (const std::uint32_t i : place) {
      const LazyLeaf& leaf = places_.leaves()[i];
      if (leaf.is_lazy()) lazy.insert(*leaf.lazy);
    }
    for (const std::uint32_t i : place) {
      const LazyLeaf& leaf = places_.leaves()[i];
      if (leaf.is_token) continue;
      std::set<std::uint32_t> others = lazy;
      if (leaf.is_lazy()) others.erase(*leaf.lazy);
      if (beside_[i].has_value() && *beside_[i] != others) return Elsewhere(leaf);
      beside_[i] = std::move(others);
    }
    return absl::OkStatus();
  }

  // A terminal of a rule is one expression for all calls of the rule.
  absl::Status CheckAgree(const LazyLeaf& leaf, const std::set<std::uint32_t>& others) {
    const auto [known, is_new] = agreed_.try_emplace({leaf.definition, leaf.expression}, others);
    return is_new || known->second == others ? absl::OkStatus() : Elsewhere(leaf);
  }

  [[nodiscard]] absl::Status Elsewhere(const LazyLeaf& leaf) const {
    return Unsupported(leaf, "beside lazy rules, a terminal that stands elsewhere beside others,");
  }

  [[nodiscard]] absl::Status Unsupported(const LazyLeaf& leaf, absl::string_view what) const {
    return UnsupportedAt(reading_.lines.Place(grammar_.expressions[leaf.expression].at), what);
  }

  SourceReading& reading_;
  SourceGrammar& grammar_;
  LazyPlaces places_;
  // By leaf: the lazy rules that may come where it may.
  std::vector<std::optional<std::set<std::uint32_t>>> beside_;
  // The same by definition and expression.
  std::map<std::pair<std::uint32_t, ExprId>, std::set<std::uint32_t>> agreed_;
};

}  // namespace

absl::Status PutLazyFirst(SymbolId start, SourceReading& reading, SourceGrammar& grammar) {
  const bool any = std::ranges::any_of(grammar.definition_of, [&](const auto& definition) {
    return definition.has_value() &&
           LazyBody(grammar, grammar.definitions[*definition].body) != kNoLazyBody;
  });
  return any ? LazyOrder(reading, grammar).Run(start) : absl::OkStatus();
}

}  // namespace maskd
