// Variables are taken out one by one, the cheapest first: Arden's rule makes a loop of what a
// variable says of itself, then its body goes in the place of its calls. The cost of one is the
// ways that this adds, so sparse systems, as grammars are, stay small.
//
// Invariant  what was taken out is named by no variable that is left.
// Cost       a variable with i ways in and o users adds i * o ways and removes i + o; once all that
//            are left add some, the left-corner transform takes over.
// Source     Arden, 1961; Rosenkrantz and Lewis, "Deterministic Left Corner Parsing", 1970.
#include "grammar_core/ir/passes/left_system.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"

namespace maskd {
namespace {

// An odd constant near 2^32 divided by the golden ratio: multiples of it are far from each other.
constexpr std::uint32_t kSpread = 0x9E3779B1;

}  // namespace

LeftSystem::LeftSystem(std::vector<Equation> equations, IrBuilder* builder, RuleOf rule_of)
    : equations_(std::move(equations)),
      builder_(builder),
      rule_of_(std::move(rule_of)),
      variables_(equations_.size()) {
  for (std::uint32_t i = 0; i < equations_.size(); ++i) {
    const LeftForm& form = equations_[i].form;
    if (form.plain != builder_->Nothing()) variables_[i].plain = {form.plain};
    for (const LeftForm::Call& call : form.calls) {
      variables_[i].calls[call.variable] = {{call.rest.node}, call.rest.nullable};
      if (call.variable != i) variables_[call.variable].users.insert(i);
    }
  }
}

absl::Status LeftSystem::Reduce(Budget& budget) {
  for (std::uint32_t i = 0; i < variables_.size(); ++i) queue_.insert(RankOf(i));
  while (!queue_.empty()) {
    auto [costly, wanted, cost, spread, variable] = *queue_.begin();
    if (costly && queue_.size() > 1) {
      // "A after B" rules begin with each other where a rest is empty.
      const std::optional<std::uint32_t> unit = FindUnit();
      if (!unit.has_value()) break;
      variable = *unit;
    }
    const std::set<std::uint32_t> around = Around(variable);
    for (const std::uint32_t i : around) queue_.erase(RankOf(i));
    const Variable& v = variables_[variable];
    const auto ways = static_cast<std::int64_t>(v.users.size() * (v.calls.size() + 1));
    const auto looked_at = static_cast<std::int64_t>(costly ? queue_.size() : 0);
    if (absl::Status status = budget.Spend(1 + ways + looked_at); !status.ok()) return status;
    TakeOut(variable);
    for (const std::uint32_t i : around)
      if (!variables_[i].taken_out) queue_.insert(RankOf(i));
    if (!builder_->status().ok()) return builder_->status();
  }
  return absl::OkStatus();
}

LeftSystem::Rank LeftSystem::RankOf(std::uint32_t variable) const {
  assert(variable < variables_.size());
  const Variable& v = variables_[variable];
  const auto in = static_cast<std::int64_t>(v.calls.size() - v.calls.count(variable) +
                                            (v.plain.empty() ? 0 : 1));
  const auto out = static_cast<std::int64_t>(v.users.size());
  const std::int64_t added_ways = in * out - in - out;
  const bool wanted = equations_[variable].call != builder_->Nothing();
  return {added_ways > 0, wanted, added_ways, variable * kSpread, variable};
}

std::optional<std::uint32_t> LeftSystem::FindUnit() const {
  for (const Rank& rank : queue_) {
    const std::uint32_t variable = std::get<4>(rank);
    for (const auto& [to, rest] : variables_[variable].calls)
      if (to != variable && rest.nullable) return variable;
  }
  return std::nullopt;
}

std::set<std::uint32_t> LeftSystem::Around(std::uint32_t variable) const {
  std::set<std::uint32_t> around = variables_[variable].users;
  for (const auto& [to, rest] : variables_[variable].calls) around.insert(to);
  around.insert(variable);
  return around;
}

NodeId LeftSystem::Loop(std::uint32_t variable) {
  const Variable& v = variables_[variable];
  const auto own = v.calls.find(variable);
  if (own == v.calls.end()) return builder_->Empty();
  return builder_->Repeat(builder_->Alt(own->second.ways), 0, kUnbounded);
}

// A = p | A r | A A^g: without the powers it would be h = p r*; with them it is h (h^g)*, as any
// number of h that the lengths add up to can be had. Only with no other variable is p known.
void LeftSystem::JoinPowers(std::uint32_t variable) {
  Variable& v = variables_[variable];
  const auto own = v.calls.find(variable);
  if (own == v.calls.end() || v.calls.size() > 1) return;
  std::vector<NodeId> others;
  std::vector<Counts> powers;
  builder_->ForEachAlternative(builder_->Alt(own->second.ways), [&](NodeId way) {
    const Power power = builder_->PowerOf(way);
    if (power.base == equations_[variable].call)
      powers.push_back(power.counts);
    else
      others.push_back(way);
  });
  if (powers.empty()) return;
  const NodeId rest = builder_->Repeat(builder_->Alt(std::move(others)), 0, kUnbounded);
  const NodeId once = builder_->Concat({builder_->Alt(v.plain), rest});
  std::vector<NodeId> more;
  for (const Counts& counts : powers) {
    const std::uint32_t min = equations_[variable].nullable ? 1 : std::max(counts.min, 1U);
    more.push_back(builder_->Repeat(once, min, counts.max));
  }
  const NodeId loop = builder_->Repeat(builder_->Alt(std::move(more)), 0, kUnbounded);
  v.plain = {builder_->Concat({once, loop})};
  v.calls.erase(own);
}

void LeftSystem::TakeOut(std::uint32_t variable) {
  JoinPowers(variable);
  Variable& v = variables_[variable];
  const NodeId loop = Loop(variable);
  v.calls.erase(variable);
  if (!v.plain.empty()) v.plain = {builder_->Concat({builder_->Alt(v.plain), loop})};
  for (auto& [to, rest] : v.calls) {
    rest.ways = {builder_->Concat({builder_->Alt(rest.ways), loop})};
    variables_[to].users.erase(variable);
  }
  for (const std::uint32_t user : v.users) Substitute(variable, user);
  v.users.clear();
  v.taken_out = true;
}

void LeftSystem::Substitute(std::uint32_t variable, std::uint32_t user) {
  const Variable& v = variables_[variable];
  Variable& u = variables_[user];
  const Rest behind = std::move(u.calls[variable]);
  u.calls.erase(variable);
  const NodeId tail = builder_->Alt(behind.ways);
  for (const NodeId plain : v.plain) u.plain.push_back(builder_->Concat({plain, tail}));
  for (const auto& [to, rest] : v.calls) {
    Rest& known = u.calls[to];
    for (const NodeId way : rest.ways) known.ways.push_back(builder_->Concat({way, tail}));
    known.nullable = known.nullable || (rest.nullable && behind.nullable);
    if (to != user) variables_[to].users.insert(user);
  }
}

NodeId LeftSystem::Body(std::uint32_t variable) {
  const Variable& v = variables_[variable];
  std::vector<NodeId> ways;
  if (v.taken_out) {
    ways = v.plain;
    for (const auto& [to, rest] : v.calls)
      ways.push_back(builder_->Concat({builder_->Call(rule_of_(to)), builder_->Alt(rest.ways)}));
  } else {
    for (const Rank& rank : queue_) {
      const std::uint32_t from = std::get<4>(rank);
      const NodeId plain = builder_->Alt(variables_[from].plain);
      ways.push_back(builder_->Concat({plain, builder_->Call(After(from, variable))}));
    }
  }
  return builder_->Alt(std::move(ways));
}

RuleId LeftSystem::After(std::uint32_t from, std::uint32_t target) {
  const auto known = after_.find({from, target});
  if (known != after_.end()) return known->second;
  const std::string name = absl::StrCat(equations_[target].name, " after ", equations_[from].name);
  const RuleId rule = builder_->DeclareRule(name, equations_[target].place);
  after_[{from, target}] = rule;
  undefined_.emplace_back(from, target);
  return rule;
}

absl::Status LeftSystem::DefineRules(Budget& budget) {
  while (!undefined_.empty()) {
    const auto [from, target] = undefined_.back();
    undefined_.pop_back();
    const auto units = static_cast<std::int64_t>(1 + variables_[from].users.size());
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    builder_->DefineRule(after_[{from, target}], AfterBody(from, target));
    if (!builder_->status().ok()) return builder_->status();
  }
  return absl::OkStatus();
}

NodeId LeftSystem::AfterBody(std::uint32_t from, std::uint32_t target) {
  std::vector<NodeId> ways;
  if (from == target) ways.push_back(builder_->Empty());
  for (const std::uint32_t user : variables_[from].users) {
    const NodeId rest = builder_->Alt(variables_[user].calls[from].ways);
    ways.push_back(builder_->Concat({rest, builder_->Call(After(user, target))}));
  }
  return builder_->Concat({Loop(from), builder_->Alt(std::move(ways))});
}

}  // namespace maskd
