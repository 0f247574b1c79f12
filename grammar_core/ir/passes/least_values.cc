// Bounds from below, raised round by round from 0 as the equations of the grammar have them: the
// sum over branches, the product over parts. A round that raises none is the last.
//
// Invariant  after every round each count is one that the texts have at least: to stop early is
//            safe.
// Cost       kMaxRounds passes over the nodes at most.
#include "grammar_core/ir/passes/least_values.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"

namespace maskd {
namespace {

// Recursive values grow with every round; nothing needs more.
constexpr int kMaxRounds = 16;
// A repetition of digits up to so many times has ample values.
constexpr std::uint32_t kManyDigits = 16;

std::int64_t Clamped(std::int64_t count) { return std::min(count, kAmpleTexts); }

// Both at most kAmpleTexts.
std::int64_t Product(std::int64_t x, std::int64_t y) { return Clamped(x * y); }

std::int64_t SizeOf(const CharSet& set) {
  std::int64_t size = 0;
  for (const CharRange& range : set.ranges()) size += std::int64_t{range.hi} - range.lo + 1;
  return Clamped(size);
}

// `number` in units of 10^-scale, where that is an integer of at most 15 digits.
std::optional<std::int64_t> InUnits(const Decimal& number, std::int64_t scale) {
  const std::int64_t shift = number.exponent + scale;
  if (shift < 0 || number.magnitude() + scale > 15) return std::nullopt;
  const std::string digits = number.digits + std::string(static_cast<std::size_t>(shift), '0');
  std::int64_t units = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), units);
  return number.negative ? -units : units;
}

// The multiples of at most one divisor. A number in units of its last decimal loses its
// rest, which makes it no more.
std::int64_t CountBetween(const NumberSpec& spec, const NumberInterval& interval) {
  if (!interval.min.has_value() || !interval.max.has_value()) return kAmpleTexts;
  if (spec.multiple_of.size() > 1 || !spec.not_multiple_of.empty()) return 0;
  const bool one = *interval.min == *interval.max;
  if (spec.multiple_of.empty() && one) return 1;
  if (spec.multiple_of.empty() && spec.fraction_digits >= kManyDigits) return kAmpleTexts;
  const Decimal step = spec.multiple_of.empty() ? Decimal{false, "1", 0} : spec.multiple_of[0];
  const std::int64_t scale =
      -std::min({step.exponent, interval.min->exponent, interval.max->exponent, std::int64_t{0}});
  const std::optional<std::int64_t> min = InUnits(*interval.min, scale);
  const std::optional<std::int64_t> max = InUnits(*interval.max, scale);
  const std::optional<std::int64_t> unit = InUnits(step, scale);
  if (!min.has_value() || !max.has_value() || !unit.has_value()) return 0;
  assert(scale >= 0 && *unit > 0 && "a step is a positive number");
  const std::int64_t first = *min + (interval.min_open ? 1 : 0);
  const std::int64_t last = *max - (interval.max_open ? 1 : 0);
  const auto floor = [&](std::int64_t n) { return n / *unit - (n % *unit < 0 ? 1 : 0); };
  return Clamped(std::max<std::int64_t>(floor(last) - floor(first - 1), 0));
}

std::int64_t CountNumbers(const NumberSpec& spec) {
  std::int64_t count = 0;
  for (const NumberInterval& interval : spec.intervals)
    count = Clamped(count + CountBetween(spec, interval));
  return count;
}

}  // namespace

absl::Status LeastValues::Find(Budget& budget) {
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      const std::int64_t count = Count(ir_.nodes[node]);
      changed |= count > counts_[node];
      counts_[node] = std::max(counts_[node], count);
    }
  }
  return absl::OkStatus();
}

std::int64_t LeastValues::Count(const IrNode& n) const {
  const std::span<const NodeId> parts(ir_.children.data() + n.first_child, n.child_count);
  switch (n.kind) {
    case IrKind::kNothing:
      return 0;
    case IrKind::kTextSet:
      return Clamped(static_cast<std::int64_t>(TextSetOf(ir_, n).size()));
    case IrKind::kCharSet:
      return SizeOf(CharSetOf(ir_, n));
    case IrKind::kConcat:
      return Most(n);
    case IrKind::kAlt:
      return CountChoice(n);
    case IrKind::kRepeat:
      return CountRepeat(n);
    case IrKind::kEncode:
    case IrKind::kBlock:
      return Of(parts[0]);
    case IrKind::kDistinct:
      return CountDistinct(n);
    case IrKind::kCall:
      return Of(ir_.rules[CalledRuleOf(n)].body);
    case IrKind::kAnd:
      return CountBoth(n);
    case IrKind::kNot: {
      const IrKind left_out = ir_.nodes[parts[0]].kind;
      return left_out == IrKind::kText || left_out == IrKind::kTextSet ? kAmpleTexts : 0;
    }
    case IrKind::kNumber:
      return CountNumbers(NumberOf(ir_, n));
    case IrKind::kObject:
      return CountObject(ObjectOf(ir_, n));
    default:
      return 1;
  }
}

// One part varies, the others stay as they are. Where one part has none yet, there is none.
std::int64_t LeastValues::Most(const IrNode& n) const {
  std::int64_t most = 1;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const std::int64_t count = Of(ir_.children[n.first_child + i]);
    if (count == 0) return 0;
    most = std::max(most, count);
  }
  return most;
}

// Branches may have values in common, except the words true, false and null.
std::int64_t LeastValues::CountChoice(const IrNode& n) const {
  std::int64_t words = 0;
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const NodeId branch = ir_.children[n.first_child + i];
    most = std::max(most, Of(branch));
    if (ir_.nodes[branch].kind != IrKind::kBytes) continue;
    const std::string& word = BytesOf(ir_, ir_.nodes[branch]);
    if (word == "true" || word == "false" || word == "null") ++words;
  }
  return std::max(words, most);
}

// Characters by their length and by what they are; digits, as of any number, by their count. Of
// other bytes, such as white space, only one repetition counts.
std::int64_t LeastValues::CountRepeat(const IrNode& n) const {
  const auto [least, most] = AsRepeat(n);
  const NodeId part = ir_.children[n.first_child];
  const std::int64_t of_one = most == 0 ? 0 : Of(part);
  const IrNode& body = ir_.nodes[part];
  const std::int64_t none = least == 0 ? 1 : 0;
  if (body.kind == IrKind::kByteSet) {
    const ByteBits& bytes = ByteSetOf(ir_, body);
    return bytes['0'] && bytes['9'] && most >= kManyDigits ? kAmpleTexts : 1;
  }
  if (body.kind != IrKind::kCharSet || of_one == 0) return std::max(of_one, none);
  if (most == kUnbounded) return kAmpleTexts;
  if (of_one == 1) return Clamped(std::int64_t{most} - least + 1);
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < most && count < kAmpleTexts; ++i) count = Product(count, of_one);
  return count;
}

// Texts of one part, less some that are listed; where there are least lengths, of an endless part.
std::int64_t LeastValues::CountBoth(const IrNode& n) const {
  std::int64_t count = 0;
  std::int64_t left_out = 0;
  int others = 0;
  bool lengths = false;
  bool endless = true;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const NodeId part = ir_.children[n.first_child + i];
    if (IsLeastLength(part)) {
      lengths = true;
    } else if (ir_.nodes[part].kind == IrKind::kNot && Of(part) == kAmpleTexts) {
      left_out += Of(ir_.children[ir_.nodes[part].first_child]);
    } else {
      ++others;
      count = Of(part);
      endless &= IsEndless(ir_, part);
    }
  }
  if (others < 2 && endless) return kAmpleTexts;
  return others > 1 || lengths ? 0 : std::max<std::int64_t>(count - left_out, 0);
}

// Any characters, from some length on.
bool LeastValues::IsLeastLength(NodeId part) const {
  const IrNode& repeat = ir_.nodes[part];
  if (repeat.kind != IrKind::kRepeat || AsRepeat(repeat).max != kUnbounded) return false;
  const IrNode& body = ir_.nodes[ir_.children[repeat.first_child]];
  return body.kind == IrKind::kCharSet && CharSetOf(ir_, body) == CharSet::All();
}

// With the other items as they are, the values that one of them has count less than those.
std::int64_t LeastValues::CountDistinct(const IrNode& n) const {
  const std::int64_t count = Of(ir_.children[n.first_child]);
  if (count == 0 || count == kAmpleTexts) return count;
  return std::max<std::int64_t>(count - DistinctOf(ir_, n).min_items, 1);
}

// With conditions, a member that is not required may be one that never comes.
std::int64_t LeastValues::CountObject(const ObjectSpec& spec) const {
  if (spec.is_array) return CountItems(spec);
  std::int64_t required = 0;
  std::int64_t product = 1;
  for (const ObjectSpec::Member& member : spec.members) {
    if (!member.required) continue;
    ++required;
    const std::int64_t count = Of(member.value);
    if (count == 0) return 0;
    const bool free = spec.conditions.empty() || member.ways.empty();
    if (free) product = Product(product, count);
  }
  if (!spec.conditions.empty() || required >= spec.max_members) return product;
  std::int64_t most = product;
  for (const ObjectSpec::Member& member : spec.members)
    if (!member.required) most = std::max(most, Of(member.value));
  for (const ObjectSpec::Others& others : spec.others) {
    const std::int64_t count = Of(others.value);
    most = std::max(most, count > 0 && IsEndless(ir_, others.name) ? kAmpleTexts : count);
  }
  return most;
}

// An array with one item more than must be there, or with another one.
std::int64_t LeastValues::CountItems(const ObjectSpec& spec) const {
  if (spec.max_members == 0) return 1;
  if (!spec.others.empty()) return kAmpleTexts;
  const auto values = static_cast<std::int64_t>(spec.members.size());
  return std::max<std::int64_t>(values - spec.min_members, 1);
}

}  // namespace maskd
