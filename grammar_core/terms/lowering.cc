// A node is made after its children, by a stack of this file's own: however deep a grammar nests,
// the thread's stack does not grow. A call is a leaf here. Its rule's body is made when a
// derivative first needs it, so rules that call each other do not lead into a loop.
//
// Invariant  a node has one term for each number of levels around it that its texts depend on.
// Cost       each node and level once; later calls are one look-up.
#include "grammar_core/terms/lowering.h"

#include <ranges>

namespace maskd {

// Whether a Distinct node's child is an object.
bool Lowering::OfObjects(const IrNode& distinct) const {
  return store_->ir().nodes[store_->ir().children[distinct.first_child]].kind == IrKind::kObject;
}

Lowering::Place Lowering::ChildOf(const Place& place, std::uint32_t child) const {
  const IrNode& node = store_->ir().nodes[place.node];
  const std::uint32_t level = node.kind == IrKind::kBlock ? 1 : 0;
  return PlaceOf(store_->ir().children[node.first_child + child], place.depth + level);
}

// With no level around it a node is found by its number alone. Deeper ones are in a hash table, as
// the levels that a text reaches have no bound.
AnyTerm Lowering::Known(const Place& place) const {
  if (place.depth == 0) return terms_[place.node];
  const auto known = deeper_.find({place.node, place.depth});
  return known == deeper_.end() ? kUnknownTerm : known->second;
}

AnyTerm Lowering::Lower(NodeId root, std::uint32_t depth) {
  std::vector<Place> open = {PlaceOf(root, depth)};
  AnyTerm made = Known(open.back());
  while (!open.empty()) {
    const Place place = open.back();
    made = Known(place);
    if (made != kUnknownTerm) {
      open.pop_back();
      continue;
    }
    // The node stays below its children on the stack, and is made when it is met again.
    const std::size_t before = open.size();
    for (std::uint32_t i = 0; i < store_->ir().nodes[place.node].child_count; ++i) {
      const Place child = ChildOf(place, i);
      if (Known(child) == kUnknownTerm) open.push_back(child);
    }
    if (open.size() > before) continue;
    made = LowerNode(place);
    if (place.depth == 0)
      terms_[place.node] = made;
    else
      deeper_[{place.node, place.depth}] = made;
    open.pop_back();
  }
  return made;
}

AnyTerm Lowering::LowerNode(const Place& place) {
  const auto [id, depth] = place;
  const IrNode& node = store_->ir().nodes[id];
  std::vector<AnyTerm> parts;
  for (std::uint32_t i = 0; i < node.child_count; ++i) parts.push_back(Known(ChildOf(place, i)));
  // The IR has two levels as terms have: which one its parts are of, a node's kind tells.
  const auto bytes = parts | std::views::transform([](AnyTerm id) { return TermId(id); });
  const auto chars = parts | std::views::transform([](AnyTerm id) { return CharTerm(id); });
  switch (node.kind) {
    case IrKind::kNothing:
      return kNothingTerm;
    case IrKind::kEmpty:
      return kEmptyTerm;
    case IrKind::kBytes:
      return AnyTerm(store_->Bytes(PoolIndexOf(node), 0));
    case IrKind::kByteSet:
      return AnyTerm(store_->ByteSet(PoolIndexOf(node)));
    case IrKind::kTokens:
      return AnyTerm(store_->Tokens(PoolIndexOf(node)));
    case IrKind::kText:
      return AnyTerm(store_->Text(PoolIndexOf(node), 0));
    case IrKind::kTextSet:
      return AnyTerm(store_->TextSet(
          PoolIndexOf(node), 0,
          static_cast<std::uint32_t>(store_->text_set(PoolIndexOf(node)).size()), 0));
    case IrKind::kCharSet:
      return AnyTerm(store_->CharSet(PoolIndexOf(node)));
    case IrKind::kConcat:
      return LowerConcat(parts);
    case IrKind::kAlt:
      return store_->Alt(parts);
    case IrKind::kRepeat:
      return store_->Repeat(parts[0], AsRepeat(node).min, AsRepeat(node).max);
    case IrKind::kAnd:
      return AnyTerm(store_->And({chars.begin(), chars.end()}));
    case IrKind::kNot:
      return AnyTerm(store_->Not(chars[0]));
    case IrKind::kEncode:
      return AnyTerm(store_->Encode(chars[0], {node.spelling}));
    case IrKind::kCall:
      return AnyTerm(store_->Call(CalledRuleOf(node), depth));
    case IrKind::kNumber:
      return AnyTerm(numbers_->Start(PoolIndexOf(node)));
    case IrKind::kObject:
      return AnyTerm(LowerObject(place));
    case IrKind::kDistinct:
      return AnyTerm(store_->Distinct(bytes[0], false, OfObjects(node) ? '}' : ']'));
    case IrKind::kLimited:
      return AnyTerm(store_->Limited(bytes[0], {.left = MostTokensOf(node)}));
    case IrKind::kBreak:
      return AnyTerm(Line(depth * BreakSpacesOf(node)));
    case IrKind::kBlock:
      return AnyTerm(LowerBlock(AsBlock(node), depth, bytes[0]));
  }
  return kNothingTerm;
}

// The open bracket, the lines one level deeper, and the close at the level of the block itself.
TermId Lowering::LowerBlock(const BlockNode& block, std::uint32_t depth, TermId lines) {
  const TermId end = store_->Cat(Line(depth * block.spaces),
                                 store_->Byte(static_cast<unsigned char>(block.close())));
  const TermId open = store_->Byte(static_cast<unsigned char>(block.open));
  return store_->Cat(open, store_->Cat(lines, end));
}

// An array that is to remember its strings is an object in the IR; what remembers them is the
// Distinct cell around it.
TermId Lowering::LowerObject(const Place& place) {
  const std::uint32_t object = PoolIndexOf(store_->ir().nodes[place.node]);
  const TermId start = objects_->Start(store_->PlaceObject(object, place.depth),
                                       store_->facts().MinBytes(place.node, place.depth));
  return RemembersTexts(store_->ir().objects[object]) ? store_->Distinct(start, false, ']') : start;
}

TermId Lowering::Line(std::uint32_t spaces) {
  return store_->Cat(store_->Byte('\n'), store_->Spaces(spaces));
}

// From the right: Cat() copies the cells of its head, which are then those of one part. From the
// left it would copy all the cells made so far for each part.
AnyTerm Lowering::LowerConcat(const std::vector<AnyTerm>& parts) {
  AnyTerm result = kEmptyTerm;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    result = store_->Cat(*part, result);
  return result;
}

}  // namespace maskd
