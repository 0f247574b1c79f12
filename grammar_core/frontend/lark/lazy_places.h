// The places of a Lark grammar's texts: which of its terminals may come together.
//
// A leaf is a terminal where a rule has it. Each call of a rule has other leaves, except calls by
// which the rule comes back to itself. The places are sets of leaves, found as the states of a
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
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

inline constexpr ExprId kNoLazyBody = std::numeric_limits<ExprId>::max();

// What the rule with the body `body` takes the shortest texts of, where it is lazy (or has a suffix
// or a stop); else kNoLazyBody.
ExprId LazyBody(const SourceGrammar& grammar, ExprId body);

// Where a rule has a terminal. Equal terminals at two places are two leaves, and so is one in two
// calls of its rule.
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
  // The ends of an expression, or of a rule.
  struct Ends {
    bool may_be_empty = false;
    Leaves first;
    Leaves last;
    bool operator==(const Ends&) const = default;
  };
  // A rule where it is called. Rules that come back to each other are one each for a call from
  // outside of them.
  struct Called {
    std::uint32_t definition;
    // The first of those that come back to each other and to this one.
    std::uint32_t entry;
    // What each call in it leads to: indices into called_.
    std::map<ExprId, std::uint32_t> calls = {};
    // By expression, from the definition's first on.
    std::vector<Ends> ends = {};
  };

  void FindReached(std::uint32_t start);
  void MarkRuleLevel(std::uint32_t definition);
  [[nodiscard]] std::vector<ExprId> CallsIn(std::uint32_t definition) const;
  void FindGroups();
  absl::Status FindCalled(std::uint32_t start);
  void AddLeaf(std::uint32_t called, ExprId expression);
  [[nodiscard]] std::string KindOf(ExprId expression) const;
  std::uint32_t FirstEqual(std::uint32_t definition);
  absl::Status FindEnds();
  [[nodiscard]] Ends EndsOf(std::uint32_t called, ExprId expression) const;
  [[nodiscard]] Ends EndsOfSequence(std::uint32_t called, const std::vector<ExprId>& parts) const;
  absl::Status Join(std::uint32_t called, ExprId expression);
  // The work of going over so many leaves.
  [[nodiscard]] absl::Status SpendOnLeaves(std::size_t count) const;
  absl::Status FindPlaces();
  [[nodiscard]] std::vector<ExprId> ChildrenOf(ExprId expression) const;
  [[nodiscard]] const Definition& DefinitionOf(std::uint32_t called) const {
    return grammar_.definitions[called_[called].definition];
  }
  [[nodiscard]] const Ends& EndsIn(std::uint32_t called, ExprId expression) const {
    return called_[called].ends[expression - DefinitionOf(called).first];
  }

  const SourceGrammar& grammar_;
  const SourceReading& reading_;
  std::vector<std::uint32_t> reached_;  // definitions of rules
  std::vector<bool> rule_level_;        // by expression
  // By definition: equal for those that come back to each other.
  std::map<std::uint32_t, std::uint32_t> group_;
  std::vector<Called> called_;                                         // the start is the first
  std::map<std::pair<std::uint32_t, ExprId>, std::uint32_t> leaf_of_;  // by called_
  std::vector<LazyLeaf> leaves_;
  std::map<std::string, std::uint32_t> lazy_by_texts_;
  std::vector<Leaves> behind_;  // by leaf
  std::set<std::vector<std::uint32_t>> places_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LAZY_PLACES_H_
