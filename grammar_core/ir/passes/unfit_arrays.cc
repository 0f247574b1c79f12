#include "grammar_core/ir/passes/unfit_arrays.h"

#include <algorithm>
#include <cassert>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/number/number_zeros.h"
#include "grammar_core/ir/passes/fixpoint.h"
#include "grammar_core/ir/passes/least_values.h"
#include "grammar_core/ir/text_counts.h"

namespace maskd {
namespace {

class UnfitArrays {
 public:
  UnfitArrays(const GrammarIr& ir, Budget& budget) : ir_(ir), budget_(budget), values_(ir) {}

  absl::StatusOr<std::vector<UnfitArray>> Find() {
    std::vector<UnfitArray> found;
    if (absl::Status status = values_.Find(budget_); !status.ok()) return status;
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (ir_.nodes[node].kind != IrKind::kDistinct) continue;
      absl::string_view why = WhyNot(ir_.nodes[node]);
      if (absl::Status status = Search(node, &why); !status.ok()) return status;
      if (!why.empty()) found.push_back({node, why});
    }
    return found;
  }

 private:
  // By what the array itself needs.
  [[nodiscard]] absl::string_view WhyNot(const IrNode& array) const {
    const auto first = ir_.children.begin() + array.first_child;
    const std::int64_t needed = DistinctOf(ir_, array).min_items;
    const bool few = std::any_of(first + 1, first + array.child_count,
                                 [&](NodeId item) { return values_.Of(item) < needed; });
    return few ? "of several items that must be there and may have few values" : "";
  }

  // By what is within it.
  absl::Status Search(NodeId array, absl::string_view* why) {
    std::vector<NodeId> open = {array};
    absl::flat_hash_set<NodeId> seen = {array};
    while (!open.empty() && why->empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (absl::Status status = budget_.Spend(); !status.ok()) return status;
      const IrNode& n = ir_.nodes[node];
      if (n.kind == IrKind::kNumber && ZerosBetween(NumberOf(ir_, n)) > kMostZerosBetween)
        *why = "of numbers that only many digits tell apart";
      if (n.kind == IrKind::kObject && HasFewNames(ObjectOf(ir_, n)))
        *why = "of objects that need several names and may have few";
      for (const NodeId part : DependedOn(ir_, node))
        if (seen.insert(part).second) open.push_back(part);
    }
    return absl::OkStatus();
  }

  // Whether names might be used up before there are enough, as none may be written twice.
  [[nodiscard]] bool HasFewNames(const ObjectSpec& spec) const {
    if (spec.is_array || spec.others.empty()) return false;
    std::int64_t names = 0;
    for (const ObjectSpec::Member& member : spec.members)
      if (member.required || spec.conditions.empty()) ++names;
    std::int64_t others = 0;
    for (const ObjectSpec::Others& other : spec.others) {
      if (values_.Of(other.value) == 0) continue;
      const std::int64_t texts = NamesOf(other);
      if (texts < kAmpleTexts && IsNeeded(spec, other)) return true;
      others = std::max(others, texts);
    }
    return names + others < spec.min_members;
  }

  [[nodiscard]] std::int64_t NamesOf(const ObjectSpec::Others& other) const {
    const bool many = IsEndless(ir_, other.name) || MostTexts(ir_, other.name) == kAmpleTexts;
    return many ? kAmpleTexts : values_.Of(other.name);
  }

  // Whether a condition may hold by one of `other` alone, and all its names may be written without.
  [[nodiscard]] bool IsNeeded(const ObjectSpec& spec, const ObjectSpec::Others& other) const {
    const auto has = [](const std::vector<ObjectSpec::Mark>& marks, ObjectSpec::Mark mark) {
      return std::ranges::find(marks, mark) != marks.end();
    };
    return std::ranges::any_of(other.marks, [&](ObjectSpec::Mark mark) {
      return std::ranges::any_of(spec.conditions,
                                 [&](const auto& c) { return has(c.some, mark); }) &&
             std::ranges::any_of(spec.others, [&](const ObjectSpec::Others& without) {
               return !has(without.marks, mark) && Includes(without.name, other.name);
             });
    });
  }

  // Whether `names` is `part`, or a choice that has it.
  [[nodiscard]] bool Includes(NodeId names, NodeId part) const {
    const IrNode& n = ir_.nodes[names];
    const auto first = ir_.children.begin() + n.first_child;
    return names == part || (n.kind == IrKind::kAlt && std::find(first, first + n.child_count,
                                                                 part) != first + n.child_count);
  }

  const GrammarIr& ir_;
  Budget& budget_;
  LeastValues values_;
};

}  // namespace

absl::StatusOr<std::vector<UnfitArray>> FindUnfitArrays(const GrammarIr& ir, Budget& budget) {
  if (ir.distinct.empty()) return std::vector<UnfitArray>();
  return UnfitArrays(ir, budget).Find();
}

// Of one child a Concat is that child.
void ForgetDistinct(NodeId node, GrammarIr* ir) {
  IrNode& array = ir->nodes[node];
  assert(array.kind == IrKind::kDistinct && array.child_count > 0);
  array.kind = IrKind::kConcat;
  IrPayload::SetFirst(&array, 0);
  array.child_count = 1;
}

}  // namespace maskd
