// The places of a Lark grammar's texts: which of its terminals may come together.
//
// A leaf is a terminal where a rule has it. The places are sets of leaves, found as the states of a
// deterministic automaton of leaves: those that the text may begin with, and behind each place and
// each kind of leaf in it those that may follow.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_PLACES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_PLACES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

inline constexpr ExprId kNoLazyBody = std::numeric_limits<ExprId>::max();

// What the rule with the body `body` takes the shortest texts of, where it is lazy (or has a suffix
// or a stop); else kNoLazyBody.
ExprId LazyBody(const SourceGrammar& grammar, ExprId body);

// Where a rule has a terminal. Equal terminals at two places are two leaves.
struct LazyLeaf {
  std::uint32_t definition;  // the one it stands in
  ExprId expression;
  // The lazy rule that it is the body of; of equal ones the first.
  std::optional<std::uint32_t> lazy = {};
  bool is_token = false;   // a token by its id: no text is taken for it
  bool is_opaque = false;  // not characters, or not known to be
  // Equal for leaves that take the same texts.
  std::string kind = {};

  // Whether it takes the shortest text only.
  [[nodiscard]] bool is_lazy() const { return lazy.has_value(); }
};

// Of one grammar: Find() once, from the definition that the text begins with.
class LazyPlaces {
 public:
  // Both must outlive this.
  LazyPlaces(const SourceGrammar& grammar, const SourceReading& reading)
      : grammar_(grammar), reading_(reading) {}

  // Errors: those of the budget; RESOURCE_EXHAUSTED: rule_instances, for too many places.
  absl::Status Find(std::uint32_t start);

  // Numbered in the order in which they were met.
  [[nodiscard]] const std::vector<LazyLeaf>& leaves() const { return leaves_; }
  // Indices into leaves(), ascending.
  [[nodiscard]] const std::set<std::vector<std::uint32_t>>& places() const { return places_; }

 private:
  using Leaves = std::set<std::uint32_t>;
  // The ends of an expression, or of a definition.
  struct Ends {
    bool may_be_empty = false;
    Leaves first;
    Leaves last;
    bool operator==(const Ends&) const = default;
  };

  void FindReached(std::uint32_t start);
  void MarkRuleLevel(std::uint32_t definition);
  void AddLeaf(std::uint32_t definition, ExprId expression);
  [[nodiscard]] std::string KindOf(ExprId expression) const;
  std::uint32_t FirstEqual(std::uint32_t definition);
  absl::Status FindEnds();
  Ends EndsOf(ExprId expression, const std::vector<Ends>& by_expression) const;
  Ends EndsOfSequence(const std::vector<ExprId>& parts, const std::vector<Ends>& ends) const;
  void Join(ExprId expression, const std::vector<Ends>& ends);
  absl::Status FindPlaces(std::uint32_t start);
  [[nodiscard]] std::vector<ExprId> ChildrenOf(ExprId expression) const;

  const SourceGrammar& grammar_;
  const SourceReading& reading_;
  std::vector<std::uint32_t> reached_;  // definitions of rules
  std::vector<bool> rule_level_;        // by expression
  std::map<ExprId, std::uint32_t> leaf_of_;
  std::vector<LazyLeaf> leaves_;
  std::map<std::string, std::uint32_t> lazy_by_texts_;
  std::map<std::uint32_t, Ends> ends_;  // by definition
  std::vector<Leaves> behind_;          // by leaf
  std::set<std::vector<std::uint32_t>> places_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_PLACES_H_
