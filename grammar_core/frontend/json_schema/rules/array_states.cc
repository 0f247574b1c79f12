// Arrays as a finite automaton, a rule for each state.
//
// A state holds the number of items and of matches, each clamped where one more makes no
// difference, so there are finitely many. From a state an item is written in each way that the
// tests (contains and the like) can come out, contradictory ways left out; the way decides the next
// state. The rule of a state is right-recursive: item, then the rule of the next state, or the end
// where it may be.
//
// Invariant  each state is opened once: rules_ declares its rule before its body is made, so cycles
//            of states are cycles of rules.
// Cost       states times two to the number of tests, within kMaxStates and kMaxWays; each state's
//            look at all counters and arrays is taken from the budget.
// Source     JSON Schema Validation 2020-12, sections 6.4.4 and 6.4.5 (maxContains, minContains).
#include "grammar_core/frontend/json_schema/rules/array_states.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/logic/sure_evaluators.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Ways to write one item at most.
constexpr std::int64_t kMaxWays = 64;

}  // namespace

// Counts from here on are alike: enough where there is no upper bound, too many where there is one.
std::uint32_t ArrayStates::Counter::clamp() const {
  return range.max == kUnbounded ? range.min : range.max + 1;
}

bool ArrayStates::Counter::Accepts(std::uint32_t count) const {
  return (range.min <= count && count <= range.max) != negated;
}

ArrayStates::ArrayStates(const MergedSchema& schema, RuleContext& context)
    : schema_(schema), context_(context) {
  FindCounters();
  FindDifferent();
}

// One for each `contains` with a bound, and for each keyword that some item must violate.
void ArrayStates::FindCounters() {
  for (std::size_t i = 0; i < schema_.own.size(); ++i) {
    const SchemaView& view = *schema_.locals[i];
    if (!view.contains.has_value()) continue;
    const CountRange& range = view.contains_count;
    if (range.min == 0 && range.max == kUnbounded) continue;
    counters_.push_back({PartHolds(schema_.own[i], view.contains->id()), 0, range, false});
  }
  CountRange some;
  some.min = 1;
  for (const Claim& atom : schema_.atoms) {
    if (atom.kind != Kind::kKeyword) continue;
    const SchemaView& view = context_.logic.schemas().view(schema_.at.at(atom.at).parent()->id());
    if (atom.keyword == K::kContains) {
      counters_.push_back({PartHolds(atom, atom.at), 0, view.contains_count, true});
    } else if (atom.keyword == K::kItems) {
      const auto first = static_cast<std::uint32_t>(view.prefix_items.size());
      counters_.push_back({PartHolds(atom, atom.at).Negated(), first, some, false});
    } else if (atom.keyword == K::kUnevaluatedItems) {
      const std::vector<JsonId>& evaluators = context_.logic.EvaluatorsOf(schema_.at.at(atom.at));
      const auto first = EvaluatedItems(context_.logic.schemas(), view.at.id(), evaluators);
      assert(first.has_value());
      counters_.push_back(
          {PartHolds(atom, atom.at).Negated(), static_cast<std::uint32_t>(*first), some, false});
    }
  }
}

// Arrays listed in a const or enum that must not hold.
void ArrayStates::FindDifferent() {
  const auto add = [&](const JsonValue& value) {
    if (value.is_array()) different_.push_back(value);
  };
  for (const Facet& facet : schema_.facets) {
    if (!facet.negated) continue;
    if (facet.keyword == K::kConst) add(facet.at);
    if (facet.keyword != K::kEnum) continue;
    for (const JsonValue value : facet.at.children()) add(value);
  }
}

// Other arrays are a repeat of one item behind a prefix (array_rules.cc), which is smaller.
bool ArrayStates::are_needed() const {
  const auto lifted = [&](const MergedSchema::Watcher& watcher) {
    return watcher.view->unevaluated_items.has_value() && !schema_.LiftedBy(watcher).empty();
  };
  return !counters_.empty() || !different_.empty() ||
         std::any_of(schema_.watchers.begin(), schema_.watchers.end(), lifted);
}

// uniqueItems beside keywords that ask for several items is refused: which items are left to ask
// with may depend on those written.
bool ArrayStates::needs_one_at_most() const {
  const auto asks_for_one = [](const Counter& counter) {
    return counter.negated ? counter.range.max == kUnbounded : counter.range.min <= 1;
  };
  return schema_.item_count.min <= 1 && different_.empty() &&
         std::all_of(counters_.begin(), counters_.end(), asks_for_one);
}

// States are made from a stack; the rule of each is declared when it is first named.
absl::StatusOr<NodeId> ArrayStates::Make() {
  State start;
  start.counters.assign(counters_.size(), 0);
  start.differs.assign(different_.size(), false);
  const absl::StatusOr<RuleId> first = RuleOf(start);
  assert(first.ok());
  while (!open_.empty()) {
    const State state = std::move(open_.back());
    open_.pop_back();
    const absl::StatusOr<NodeId> body = BodyOf(state);
    if (!body.ok()) return body;
    context_.builder.DefineRule(rules_.at(state), *body);
  }
  return context_.layout.Container('[', {context_.builder.Call(*first)}, MayEnd(start));
}

absl::StatusOr<RuleId> ArrayStates::RuleOf(const State& state) {
  const auto known = rules_.find(state);
  if (known != rules_.end()) return known->second;
  const auto count = static_cast<std::int64_t>(rules_.size()) + 1;
  if (count > kMaxStates)
    return LimitExceeded(schema_.at.Pointer(), "states of one array", kMaxStates, count);
  const std::string place = schema_.at.Pointer();
  const RuleId rule = context_.builder.DeclareRule(absl::StrCat("items of #", place), place);
  rules_.emplace(state, rule);
  open_.push_back(state);
  return rule;
}

// Beyond this, one item more makes no difference but to the counters.
std::uint32_t ArrayStates::CountClamp() const {
  const CountRange& count = schema_.item_count;
  std::size_t clamp = std::max<std::size_t>(schema_.prefix_size(), 1);
  clamp = std::max<std::size_t>(clamp, count.max == kUnbounded ? count.min : count.max);
  for (const Counter& counter : counters_) clamp = std::max<std::size_t>(clamp, counter.first);
  for (const JsonValue& value : different_) clamp = std::max<std::size_t>(clamp, value.size() + 1);
  return static_cast<std::uint32_t>(clamp);
}

bool ArrayStates::MayEnd(const State& state) const {
  assert(state.counters.size() == counters_.size() && state.differs.size() == different_.size());
  const CountRange& count = schema_.item_count;
  if (state.count < count.min) return false;
  for (std::size_t i = 0; i < counters_.size(); ++i)
    if (!counters_[i].Accepts(state.counters[i])) return false;
  for (std::size_t i = 0; i < different_.size(); ++i)
    if (!state.differs[i] && state.count == different_[i].size()) return false;
  return true;
}

// An item is compared with the item of the same index in each array that is still equal so far.
std::vector<Claim> ArrayStates::TestsAt(const State& state) const {
  std::vector<Claim> tests;
  // An array's item is reached by a walk over those before it.
  const std::size_t walk = 1 + state.count / ClaimLogic::kClaimsAStep;
  if (!context_.logic.Take(counters_.size() + different_.size() * walk, schema_.at.id()))
    return tests;
  for (const Counter& counter : counters_)
    if (state.count >= counter.first) context_.logic.AddOnce(counter.test, &tests);
  for (std::size_t i = 0; i < different_.size(); ++i) {
    const std::optional<JsonValue> item = different_[i].Nth(state.count);
    if (state.differs[i] || !item.has_value()) continue;
    context_.logic.AddOnce({.kind = Kind::kValue, .at = item->id()}, &tests);
  }
  for (const MergedSchema::Watcher& watcher : schema_.watchers)
    for (const Claim& claim : schema_.LiftedBy(watcher)) context_.logic.AddOnce(claim, &tests);
  return tests;
}

// Each test splits every way in two, less those that contradict themselves. Then unevaluatedItems
// joins the ways in which no match of a `contains` evaluated the item.
absl::StatusOr<std::vector<ArrayStates::Way>> ArrayStates::WaysAt(const State& state,
                                                                  const std::vector<Claim>& tests) {
  std::vector<Way> ways = {{schema_.ItemClaims(state.count), {}}};
  for (const Claim& test : tests) {
    std::vector<Way> split;
    for (const Way& way : ways) {
      for (const bool holds : {true, false}) {
        Way next = way;
        context_.logic.AddOnce(holds ? test : test.Negated(), &next.claims);
        next.holds.push_back(holds);
        if (!context_.contradiction.In(next.claims)) split.push_back(std::move(next));
      }
    }
    ways = std::move(split);
    const auto count = static_cast<std::int64_t>(ways.size());
    if (count > kMaxWays)
      return LimitExceeded(schema_.at.Pointer(), "ways to write an item", kMaxWays, count);
  }
  for (const MergedSchema::Watcher& watcher : schema_.watchers) {
    const std::vector<Claim> lifted_by = schema_.LiftedBy(watcher);
    if (!watcher.view->unevaluated_items.has_value() || lifted_by.empty()) continue;
    if (schema_.IsEvaluated(watcher, state.count)) continue;
    for (Way& way : ways) {
      bool lifted = false;
      for (std::size_t i = 0; i < tests.size(); ++i) {
        const bool lifts =
            std::find(lifted_by.begin(), lifted_by.end(), tests[i]) != lifted_by.end();
        lifted |= lifts && way.holds[i];
      }
      if (lifted) continue;
      context_.logic.AddOnce(PartHolds(watcher.own, watcher.view->unevaluated_items->id()),
                             &way.claims);
    }
  }
  return ways;
}

// Counts are clamped, so the states behind a long array are one state.
ArrayStates::State ArrayStates::After(const State& state, const std::vector<Claim>& tests,
                                      const Way& way) const {
  const auto holds = [&](const Claim& test) {
    const auto at = std::find(tests.begin(), tests.end(), test) - tests.begin();
    assert(static_cast<std::size_t>(at) < way.holds.size());
    return static_cast<bool>(way.holds[static_cast<std::size_t>(at)]);
  };
  State next = state;
  if (!context_.logic.Take(counters_.size() + different_.size(), schema_.at.id())) return next;
  next.count = std::min(state.count + 1, CountClamp());
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (state.count < counters_[i].first || !holds(counters_[i].test)) continue;
    next.counters[i] = std::min(state.counters[i] + 1, counters_[i].clamp());
  }
  for (std::size_t i = 0; i < different_.size(); ++i) {
    if (state.differs[i]) continue;
    const std::optional<JsonValue> item = different_[i].Nth(state.count);
    next.differs[i] = !item.has_value() || !holds({.kind = Kind::kValue, .at = item->id()});
  }
  return next;
}

absl::StatusOr<NodeId> ArrayStates::BodyOf(const State& state) {
  assert(rules_.contains(state));
  IrBuilder& b = context_.builder;
  const bool is_first = state.count == 0;
  std::vector<NodeId> ways;
  if (!is_first && MayEnd(state)) ways.push_back(b.Empty());
  if (state.count < schema_.item_count.max) {
    const std::vector<Claim> tests = TestsAt(state);
    if (!context_.logic.status().ok()) return context_.logic.status();
    const absl::StatusOr<std::vector<Way>> items = WaysAt(state, tests);
    if (!items.ok()) return items.status();
    for (const Way& way : *items) {
      const absl::StatusOr<RuleId> rest = RuleOf(After(state, tests, way));
      if (!rest.ok()) return rest.status();
      const NodeId value = context_.value(way.claims);
      const NodeId item = is_first ? context_.layout.First(value) : context_.layout.Next(value);
      ways.push_back(b.Concat({item, b.Call(*rest)}));
    }
  }
  return b.Alt(std::move(ways));
}

}  // namespace maskd
