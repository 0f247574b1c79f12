// Arrays whose items are counted by what they match (contains, and items that must violate a
// schema somewhere), as one rule for each state between two items.
//
// State    how many items there are, and for each counter how many it has seen, both as far as that
//          matters. For each array that this one must differ from, whether it does.
// Errors   RESOURCE_EXHAUSTED: kMaxStates.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_ARRAY_STATES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_ARRAY_STATES_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {

// For one array: Make() once. Asked for only where are_needed() says so, as it multiplies rules.
class ArrayStates {
 public:
  static constexpr std::int64_t kMaxStates = 5'000;

  // Both must outlive this.
  ArrayStates(const MergedSchema& schema, RuleContext& context);

  // Whether counting items and their places is not enough.
  [[nodiscard]] bool are_needed() const;

  // Whether at most one item must be there, beside one that each counter asks for: that one is
  // never one of those before it.
  [[nodiscard]] bool needs_one_at_most() const;

  // The array as a node: a rule for each state that can be reached, the empty array's among them.
  absl::StatusOr<NodeId> Make();

 private:
  // Counts the items from `first` on that satisfy `test`.
  struct Counter {
    Claim test;
    std::uint32_t first;
    CountRange range;
    // The count must be outside of the range.
    bool negated;

    // Counts from here on need not be told apart; and whether so many, told apart so far, are
    // allowed.
    [[nodiscard]] std::uint32_t clamp() const;
    [[nodiscard]] bool Accepts(std::uint32_t count) const;
  };
  struct State {
    std::uint32_t count = 0;
    std::vector<std::uint32_t> counters;
    std::vector<bool> differs;
    auto operator<=>(const State&) const = default;
  };
  // Values of an item, and the state behind them.
  struct Way {
    std::vector<Claim> claims;
    // For each test: whether it holds.
    std::vector<bool> holds;
  };

  void FindCounters();
  void FindDifferent();
  [[nodiscard]] std::uint32_t CountClamp() const;
  [[nodiscard]] bool MayEnd(const State& state) const;
  // The tests that the item behind `state` is put to.
  [[nodiscard]] std::vector<Claim> TestsAt(const State& state) const;
  absl::StatusOr<std::vector<Way>> WaysAt(const State& state, const std::vector<Claim>& tests);
  [[nodiscard]] State After(const State& state, const std::vector<Claim>& tests,
                            const Way& way) const;
  // The rule of what follows in `state`, from the comma on where there are items; where there are
  // none yet, of one or more.
  absl::StatusOr<RuleId> RuleOf(const State& state);
  absl::StatusOr<NodeId> BodyOf(const State& state);

  const MergedSchema& schema_;
  RuleContext& context_;
  std::vector<Counter> counters_;
  // Arrays that this one must differ from.
  std::vector<JsonValue> different_;
  std::map<State, RuleId> rules_;
  std::vector<State> open_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_ARRAY_STATES_H_
