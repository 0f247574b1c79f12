#include "grammar_core/ir/grammar_ir.h"

#include <algorithm>

namespace maskd {

bool IsEndless(const GrammarIr& ir, NodeId node) {
  const IrNode& n = ir.nodes[node];
  return n.kind == IrKind::kRepeat && IrPayload::Second(n) == kUnbounded &&
         ir.nodes[ir.children[n.first_child]].kind == IrKind::kCharSet;
}

bool RemembersTexts(const ObjectSpec& spec) { return spec.is_array && !spec.others.empty(); }

bool RemembersTexts(const GrammarIr& ir) {
  return !ir.distinct.empty() || std::ranges::any_of(ir.objects, [](const ObjectSpec& spec) {
    return RemembersTexts(spec);
  });
}

bool LimitsTokens(const GrammarIr& ir) {
  return std::ranges::any_of(ir.nodes,
                             [](const IrNode& node) { return node.kind == IrKind::kLimited; });
}

bool BreaksLines(const GrammarIr& ir) {
  return std::ranges::any_of(ir.nodes,
                             [](const IrNode& node) {
                               return node.kind == IrKind::kBreak || node.kind == IrKind::kBlock;
                             }) ||
         std::ranges::any_of(ir.objects, [](const ObjectSpec& spec) { return spec.is_block(); });
}

void AppendNodes(const ObjectSpec& spec, std::vector<NodeId>* out) {
  ForEachNode(spec, [&](NodeId node) { out->push_back(node); });
}

void MapNodes(ObjectSpec* spec, absl::Span<const NodeId> places) {
  for (ObjectSpec::Member& member : spec->members) {
    member.value = places[member.value];
    for (ObjectSpec::Way& way : member.ways) way.value = places[way.value];
  }
  for (ObjectSpec::Others& others : spec->others) {
    others.name = places[others.name];
    others.value = places[others.value];
  }
  spec->after_colon = places[spec->space_after_colon()];
  spec->after_comma = places[spec->space_after_comma()];
  spec->space = places[spec->space];
}

}  // namespace maskd
