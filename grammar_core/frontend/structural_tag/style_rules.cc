#include "grammar_core/frontend/structural_tag/style_rules.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace maskd {

bool HoldsAny(absl::string_view name, const std::vector<std::string>& texts) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return absl::StrContains(name, text); });
}

NodeId StyleRules::Call(RuleId rule) {
  const auto [made, is_new] = made_.try_emplace(rule, 0);
  if (is_new) {
    made->second = b_.DeclareRule(name_, from_.rules[rule].place);
    waiting_.push_back(rule);
  }
  return b_.Call(made->second);
}

absl::Status StyleRules::Define(absl::FunctionRef<absl::StatusOr<NodeId>(NodeId values)> forms) {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const RuleId rule = waiting_[i];
    const absl::StatusOr<NodeId> body = forms(from_.rules[rule].body);
    if (!body.ok()) return body.status();
    b_.DefineRule(made_[rule], *body);
  }
  return absl::OkStatus();
}

MembersInAnyOrder::MembersInAnyOrder(const ObjectSpec& spec, std::vector<NodeId> members,
                                     NodeId other, NodeId between, const std::string& place,
                                     IrBuilder& builder)
    : members_(std::move(members)), other_(other), b_(builder) {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (spec.members[i].required) required_ |= std::size_t{1} << i;
  const std::size_t sets = std::size_t{1} << members_.size();
  for (std::size_t set = 0; set < sets; ++set) rules_.push_back(b_.DeclareRule("members", place));
  for (std::size_t set = 0; set < sets; ++set) b_.DefineRule(rules_[set], After(set, between));
}

NodeId MembersInAnyOrder::After(std::size_t set, NodeId before) const {
  std::vector<NodeId> ways = {b_.Concat({before, other_, b_.Call(rules_[set])})};
  if ((set & required_) == required_) ways.push_back(b_.Empty());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t bit = std::size_t{1} << i;
    if ((set & bit) == 0)
      ways.push_back(b_.Concat({before, members_[i], b_.Call(rules_[set | bit])}));
  }
  return b_.Alt(std::move(ways));
}

}  // namespace maskd
