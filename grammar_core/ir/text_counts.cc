#include "grammar_core/ir/text_counts.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

using Counts = absl::flat_hash_map<NodeId, std::int64_t>;

std::int64_t Clamped(std::int64_t count) { return std::min(count, kAmpleTexts); }

std::int64_t OfRepeat(std::int64_t of_one, std::uint32_t min, std::uint32_t max) {
  assert(min <= max);
  if (of_one == 0) return min == 0 ? 1 : 0;
  if (max == kUnbounded) return kAmpleTexts;
  if (of_one == 1) return Clamped(std::int64_t{max} - min + 1);
  std::int64_t count = 0;
  std::int64_t power = 1;
  for (std::uint32_t i = 0; i <= max && count < kAmpleTexts; ++i) {
    if (i >= min) count = Clamped(count + power);
    power = Clamped(power * of_one);
    if (power == kAmpleTexts && i + 1 <= max) return kAmpleTexts;
  }
  return count;
}

std::int64_t OfSet(const CharSet& set) {
  std::int64_t count = 0;
  for (const CharRange& range : set.ranges()) count += std::int64_t{range.hi} - range.lo + 1;
  return Clamped(count);
}

// Of `n`, whose children are counted.
std::int64_t Count(const GrammarIr& ir, const IrNode& n, const Counts& counts) {
  const std::span<const NodeId> parts(ir.children.data() + n.first_child, n.child_count);
  std::int64_t count = n.kind == IrKind::kAlt ? 0 : n.kind == IrKind::kAnd ? kAmpleTexts : 1;
  switch (n.kind) {
    case IrKind::kNothing:
      return 0;
    case IrKind::kEmpty:
    case IrKind::kText:
      return 1;
    case IrKind::kTextSet:
      return Clamped(static_cast<std::int64_t>(TextSetOf(ir, n).size()));
    case IrKind::kCharSet:
      return OfSet(CharSetOf(ir, n));
    case IrKind::kConcat:
      for (const NodeId part : parts) count = Clamped(count * counts.at(part));
      return count;
    case IrKind::kAlt:
      for (const NodeId part : parts) count = Clamped(count + counts.at(part));
      return count;
    case IrKind::kAnd:
      for (const NodeId part : parts) count = std::min(count, counts.at(part));
      return count;
    case IrKind::kRepeat:
      return OfRepeat(counts.at(parts[0]), AsRepeat(n).min, AsRepeat(n).max);
    default:
      return kAmpleTexts;
  }
}

}  // namespace

std::int64_t MostTexts(const GrammarIr& ir, NodeId node) {
  assert(node < ir.nodes.size());
  Counts counts;
  std::vector<NodeId> open = {node};
  while (!open.empty()) {
    const NodeId at = open.back();
    const IrNode& n = ir.nodes[at];
    const std::size_t before = open.size();
    for (std::uint32_t i = 0; i < n.child_count && !counts.contains(at); ++i) {
      const NodeId part = ir.children[n.first_child + i];
      if (!counts.contains(part)) open.push_back(part);
    }
    if (open.size() > before) continue;
    if (!counts.contains(at)) counts[at] = Count(ir, n, counts);
    open.pop_back();
  }
  return counts.at(node);
}

}  // namespace maskd
