// A depth-first search over states of an object. From a state with a violated condition only
// members that mend it are tried, since one of them must come. Where one member alone can mend each
// condition, the answer needs no search.
//
// Invariant  a state holds just what its future depends on, so equal keys have equal answers and
//            none is visited twice.
// Cost       StateUnits() of work a state, and max_states states at most.
#include "grammar_core/ir/object_end.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/saturating.h"

namespace maskd {
namespace {

bool IsSet(const std::string& bits, std::size_t at) { return bits[at] == '1'; }

// Of marks that no condition speaks of there is no letter.
void SetAll(const ObjectEnd::Marks& marks, std::string* bits) {
  for (const ObjectSpec::Mark mark : marks)
    if (mark < bits->size()) (*bits)[mark] = '1';
}

bool IsAnySet(const std::string& bits, const ObjectEnd::Marks& marks) {
  return std::any_of(marks.begin(), marks.end(),
                     [&](ObjectSpec::Mark mark) { return IsSet(bits, mark); });
}

std::size_t MarkEnd(const ObjectEnd::Marks& marks, std::size_t end) {
  for (const ObjectSpec::Mark mark : marks) end = std::max<std::size_t>(end, mark + 1);
  return end;
}

}  // namespace

bool HaveAnyOf(const ObjectEnd::Marks& marks, const ObjectEnd::Marks& some) {
  return std::find_first_of(marks.begin(), marks.end(), some.begin(), some.end()) != marks.end();
}

bool HasConditions(const ObjectSpec& spec) {
  return !spec.conditions.empty() || spec.min_members > 0 || spec.max_members != kUnbounded;
}

std::string ObjectState::Key() const { return absl::StrCat(closed, settled, marks, ".", count); }

ObjectEnd::ObjectEnd(const ObjectSpec& spec, const std::function<bool(NodeId)>& has_value)
    : spec_(&spec),
      // One past the upper bound, so that one too many shows.
      count_clamp_(spec.max_members == kUnbounded ? spec.min_members : spec.max_members + 1) {
  for (const ObjectSpec::Member& member : spec.members) {
    std::vector<ObjectSpec::Way>& ways = ways_.emplace_back(member.ways);
    if (ways.empty()) ways.push_back({member.value, {}});
    std::erase_if(ways, [&](const ObjectSpec::Way& way) { return !has_value(way.value); });
    required_lost_ |= member.required && ways.empty();
  }
  for (const ObjectSpec::Others& others : spec.others)
    others_live_.push_back(has_value(others.value) && has_value(others.name));
  for (const ObjectSpec::Condition& condition : spec.conditions)
    mark_count_ = MarkEnd(condition.unless_all, MarkEnd(condition.some, mark_count_));
  for (const std::vector<ObjectSpec::Way>& ways : ways_) {
    std::string left(mark_count_, '0');
    for (const ObjectSpec::Way& way : ways) SetAll(way.marks, &left);
    std::vector<std::size_t>& mended = mended_by_.emplace_back();
    for (std::size_t i = 0; i < spec.conditions.size(); ++i)
      if (IsAnySet(left, spec.conditions[i].some)) mended.push_back(i);
  }
}

ObjectState ObjectEnd::Start() const {
  ObjectState state;
  for (const auto& ways : ways_) state.closed.push_back(ways.empty() ? '1' : '0');
  state.settled.assign(spec_->conditions.size(), '0');
  state.marks.assign(mark_count_, '0');
  return state;
}

ObjectState ObjectEnd::After(ObjectState state, const Marks& marks) const {
  state.count = std::min(state.count + 1, count_clamp_);
  if (marks.empty()) return state;
  std::string left(mark_count_, '0');
  SetAll(marks, &left);
  std::string relevant(mark_count_, '0');
  for (std::size_t i = 0; i < spec_->conditions.size(); ++i) {
    if (IsSet(state.settled, i)) continue;
    const ObjectSpec::Condition& condition = spec_->conditions[i];
    if (IsAnySet(left, condition.some)) {
      state.settled[i] = '1';
      continue;
    }
    for (const ObjectSpec::Mark mark : condition.unless_all)
      if (IsSet(left, mark) || IsSet(state.marks, mark)) relevant[mark] = '1';
  }
  state.marks = std::move(relevant);
  return state;
}

bool ObjectEnd::IsViolated(std::size_t condition, const ObjectState& state) const {
  assert(condition < spec_->conditions.size());
  if (IsSet(state.settled, condition)) return false;
  const Marks& unless = spec_->conditions[condition].unless_all;
  return std::all_of(unless.begin(), unless.end(),
                     [&](ObjectSpec::Mark mark) { return IsSet(state.marks, mark); });
}

std::optional<std::size_t> ObjectEnd::FindViolated(const ObjectState& state) const {
  for (std::size_t i = 0; i < spec_->conditions.size(); ++i)
    if (IsViolated(i, state)) return i;
  return std::nullopt;
}

bool ObjectEnd::AreHarmless(const Marks& marks, const ObjectState& state) const {
  if (marks.empty()) return true;
  for (std::size_t i = 0; i < spec_->conditions.size(); ++i) {
    if (IsSet(state.settled, i)) continue;
    for (const ObjectSpec::Mark mark : spec_->conditions[i].unless_all) {
      const bool now = std::find(marks.begin(), marks.end(), mark) != marks.end();
      if (now && !IsSet(state.marks, mark)) return false;
    }
  }
  return true;
}

// What led to the end before does so still: members that it writes by the way are written or may be
// still, none of those closed is one that mends, and what holds is not violated. Only a number of
// members could be missed by those passed over, or exceeded.
bool ObjectEnd::IsNeutral(const ObjectState& state, const Marks& marks, std::size_t first,
                          std::size_t last) const {
  if (spec_->max_members != kUnbounded || (spec_->min_members > 0 && last - first > 1))
    return false;
  for (std::size_t member = first; member < last; ++member) {
    if (IsSet(state.closed, member)) continue;
    for (const std::size_t condition : mended_by_[member])
      if (!IsSet(state.settled, condition)) return false;
  }
  return AreHarmless(marks, state);
}

bool ObjectEnd::MayEndHere(const ObjectState& state) const {
  for (std::size_t i = 0; i < spec_->members.size(); ++i)
    if (spec_->members[i].required && !IsSet(state.closed, i)) return false;
  return state.count >= spec_->min_members && !FindViolated(state).has_value();
}

std::uint32_t ObjectEnd::MissingMembers(const ObjectState& state) const {
  std::uint32_t required = 0;
  for (std::size_t i = 0; i < spec_->members.size(); ++i)
    if (spec_->members[i].required && !IsSet(state.closed, i)) ++required;
  const std::uint32_t counted = spec_->min_members - std::min(spec_->min_members, state.count);
  const std::uint32_t missing = std::max(required, counted);
  return missing == 0 && FindViolated(state).has_value() ? 1 : missing;
}

ObjectEnd::Mending ObjectEnd::MendingBytes(
    const ObjectState& state, const std::function<std::uint32_t(std::size_t)>& member_bytes,
    const std::function<std::uint32_t(std::size_t)>& others_bytes) const {
  constexpr int kConditions = 4;
  Mending mending;
  std::uint32_t dearest = 0;
  absl::flat_hash_set<std::size_t> counted;  // members, and behind them the others
  int violated = 0;
  for (std::size_t i = 0; i < spec_->conditions.size() && violated < kConditions; ++i) {
    if (!IsViolated(i, state)) continue;
    ++violated;
    const std::vector<std::size_t> menders = MendersOf(i, state);
    const bool apart = std::none_of(menders.begin(), menders.end(),
                                    [&](std::size_t by) { return counted.contains(by); });
    if (!apart || menders.empty()) continue;
    std::uint32_t cheapest = kUnbounded;
    for (const std::size_t by : menders) {
      const std::uint32_t bytes =
          by < ways_.size() ? member_bytes(by) : others_bytes(by - ways_.size());
      cheapest = std::min(cheapest, bytes);
    }
    mending.bytes = SaturatingAdd(mending.bytes, cheapest);
    dearest = std::max(dearest, cheapest);
    counted.insert(menders.begin(), menders.end());
  }
  mending.bytes_after_one = mending.bytes - dearest;
  return mending;
}

std::vector<std::size_t> ObjectEnd::MendersOf(std::size_t condition,
                                              const ObjectState& state) const {
  const Marks& some = spec_->conditions[condition].some;
  std::vector<std::size_t> menders;
  for (std::size_t m = 0; m < ways_.size(); ++m) {
    const bool by_this = !IsSet(state.closed, m) &&
                         std::any_of(ways_[m].begin(), ways_[m].end(),
                                     [&](const auto& way) { return HaveAnyOf(way.marks, some); });
    if (by_this) menders.push_back(m);
  }
  for (std::size_t i = 0; i < spec_->others.size(); ++i)
    if (HaveAnyOf(spec_->others[i].marks, some)) menders.push_back(ways_.size() + i);
  return menders;
}

std::int64_t ObjectEnd::StateUnits() const {
  constexpr std::size_t kPartsPerUnit = 16;
  return static_cast<std::int64_t>(
      2 + (spec_->members.size() + 2 * spec_->conditions.size() + mark_count_) / kPartsPerUnit);
}

absl::StatusOr<bool> ObjectEnd::CanEnd(const ObjectState& state, std::int64_t max_states,
                                       const Spend& spend) const {
  if (required_lost_) return false;
  std::vector<ObjectState> open = {state};
  absl::flat_hash_set<std::string> seen;
  for (std::int64_t count = 0; !open.empty(); ++count) {
    if (count == max_states) return LimitExceeded("", "emptiness_states", max_states, count + 1);
    Step step = StepFrom(std::move(open.back()));
    open.pop_back();
    const auto made = static_cast<std::int64_t>(1 + step.next.size());
    if (absl::Status status = spend(made * StateUnits()); !status.ok()) return status;
    if (step.ended) return true;
    std::reverse(step.next.begin(), step.next.end());
    for (ObjectState& next : step.next)
      if (seen.insert(next.Key()).second) open.push_back(std::move(next));
  }
  return false;
}

ObjectEnd::Step ObjectEnd::StepFrom(ObjectState state) const {
  Step step;
  const std::optional<std::size_t> forced = WriteForced(&state);
  if (state.count > spec_->max_members) return step;
  if (forced.has_value()) {
    AppendMember(*forced, state, [](const Marks&) { return true; }, &step.next);
    return step;
  }
  if (const std::optional<std::size_t> violated = FindViolated(state); violated.has_value()) {
    const Marks& some = spec_->conditions[*violated].some;
    AppendWritten(state, [&](const Marks& marks) { return HaveAnyOf(marks, some); }, &step.next);
    return step;
  }
  return Fill(std::move(state));
}

std::optional<std::size_t> ObjectEnd::WriteForced(ObjectState* state) const {
  for (std::size_t i = 0; i < spec_->members.size(); ++i) {
    if (!spec_->members[i].required || IsSet(state->closed, i)) continue;
    if (!IsPlain(i)) return i;
    state->closed[i] = '1';
    // Not clamped: too many must show.
    ++state->count;
  }
  return std::nullopt;
}

bool ObjectEnd::IsPlain(std::size_t member) const {
  assert(member < ways_.size());
  return ways_[member].size() == 1 && ways_[member].front().marks.empty();
}

// Everything holds; only members in number may be missing.
ObjectEnd::Step ObjectEnd::Fill(ObjectState state) const {
  Step step;
  if (spec_->min_members > spec_->max_members) return step;
  for (std::size_t i = 0; i < spec_->others.size(); ++i)
    step.ended |= others_live_[i] && AreHarmless(spec_->others[i].marks, state);
  for (std::size_t i = 0; i < ways_.size() && state.count < spec_->min_members; ++i) {
    if (IsSet(state.closed, i) || !IsPlain(i)) continue;
    state.closed[i] = '1';
    ++state.count;
  }
  step.ended |= state.count >= spec_->min_members;
  if (!step.ended) AppendWritten(state, [](const Marks&) { return true; }, &step.next);
  return step;
}

void ObjectEnd::AppendMember(std::size_t member, const ObjectState& state,
                             const std::function<bool(const Marks&)>& wanted,
                             std::vector<ObjectState>* out) const {
  for (const ObjectSpec::Way& way : ways_[member]) {
    if (!wanted(way.marks)) continue;
    out->push_back(After(state, way.marks));
    out->back().closed[member] = '1';
  }
}

void ObjectEnd::AppendWritten(const ObjectState& state,
                              const std::function<bool(const Marks&)>& wanted,
                              std::vector<ObjectState>* out) const {
  for (std::size_t i = 0; i < ways_.size(); ++i)
    if (!IsSet(state.closed, i)) AppendMember(i, state, wanted, out);
  for (std::size_t i = 0; i < spec_->others.size(); ++i) {
    const Marks& marks = spec_->others[i].marks;
    if (others_live_[i] && wanted(marks)) out->push_back(After(state, marks));
  }
}

}  // namespace maskd
