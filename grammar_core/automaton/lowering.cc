#include "grammar_core/automaton/lowering.h"

#include "grammar_core/automaton/distinct_arrays.h"

namespace maskd {

// Whether a Distinct node's child is an object.
bool Lowering::OfObjects(const IrNode& distinct) const {
  return store_->ir().nodes[store_->ir().children[distinct.first_child]].kind == IrKind::kObject;
}

TermId Lowering::Lower(NodeId root) {
  std::vector<NodeId> open = {root};
  while (!open.empty()) {
    const NodeId id = open.back();
    if (terms_[id] != kUnknownTerm) {
      open.pop_back();
      continue;
    }
    const IrNode& node = store_->ir().nodes[id];
    const std::size_t before = open.size();
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const NodeId child = store_->ir().children[node.first_child + i];
      if (terms_[child] == kUnknownTerm) open.push_back(child);
    }
    if (open.size() > before) continue;
    terms_[id] = LowerNode(id);
    open.pop_back();
  }
  return terms_[root];
}

TermId Lowering::LowerNode(NodeId id) {
  const IrNode& node = store_->ir().nodes[id];
  std::vector<TermId> parts;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    parts.push_back(terms_[store_->ir().children[node.first_child + i]]);
  }
  switch (node.kind) {
    case IrKind::kNothing:
      return kNothingTerm;
    case IrKind::kEmpty:
      return kEmptyTerm;
    case IrKind::kBytes:
      return store_->Bytes(node.a, 0);
    case IrKind::kByteSet:
      return store_->ByteSet(node.a);
    case IrKind::kTokens:
      return store_->Tokens(node.a);
    case IrKind::kText:
      return store_->Text(node.a, 0);
    case IrKind::kTextSet:
      return store_->TextSet(node.a, 0, static_cast<std::uint32_t>(store_->text_set(node.a).size()),
                             0);
    case IrKind::kCharSet:
      return store_->CharSet(node.a);
    case IrKind::kConcat:
      return LowerConcat(parts);
    case IrKind::kAlt:
      return store_->Alt(std::move(parts));
    case IrKind::kRepeat:
      return store_->Repeat(parts[0], node.a, node.b);
    case IrKind::kAnd:
      return store_->And(std::move(parts));
    case IrKind::kNot:
      return store_->Not(parts[0]);
    case IrKind::kEncode:
      return store_->Encode(parts[0], {node.spelling});
    case IrKind::kCall:
      return store_->Call(node.a);
    case IrKind::kNumber:
      return numbers_->Start(node.a);
    case IrKind::kObject:
      return objects_->Start(node.a, store_->facts().MinBytes(id));
    case IrKind::kDistinct:
      return store_->Distinct(parts[0], DistinctArrays::kStart, OfObjects(node) ? '}' : ']');
    case IrKind::kLimited:
      return store_->Limited(parts[0], {.left = node.a});
  }
  return kNothingTerm;
}

TermId Lowering::LowerConcat(const std::vector<TermId>& parts) {
  TermId result = kEmptyTerm;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    result = store_->Cat(*part, result);
  }
  return result;
}

}  // namespace maskd
