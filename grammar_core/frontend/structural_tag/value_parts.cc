// The IR of a JSON Schema is split by the first byte of its values, which tells JSON's types apart.
// The walk goes through calls and alternations only; the first node of any other kind is a part,
// and its type is that of the node it begins with.
//
// Invariant  a shape that json_schema does not make is refused, never guessed at.
// Cost       each node once; a list of scalars is sorted by type.
#include "grammar_core/frontend/structural_tag/value_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// By the first byte, which tells the types of JSON apart.
std::optional<ValueType> TypeBegunBy(char byte) {
  switch (byte) {
    case '"':
      return ValueType::kString;
    case '[':
      return ValueType::kArray;
    case '{':
      return ValueType::kObject;
    case 't':
    case 'f':
      return ValueType::kBoolean;
    case 'n':
      return ValueType::kNull;
    default:
      if (byte == '-' || (byte >= '0' && byte <= '9')) return ValueType::kNumber;
      return std::nullopt;
  }
}

absl::Status OtherShape() { return UnsupportedAt("", "a value of this shape in an XML style"); }

}  // namespace

absl::StatusOr<std::vector<ValueParts::Part>> ValueParts::Of(NodeId value) const {
  std::vector<Part> parts;
  absl::flat_hash_set<NodeId> seen = {value};
  std::vector<NodeId> open = {value};
  while (!open.empty()) {
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    const NodeId node = open.back();
    open.pop_back();
    const IrNode& n = ir_.nodes[node];
    if (n.kind == IrKind::kNothing) continue;
    if (n.kind == IrKind::kCall) {
      if (const NodeId body = ir_.rules[CalledRuleOf(n)].body; seen.insert(body).second)
        open.push_back(body);
    } else if (n.kind == IrKind::kAlt) {
      for (std::uint32_t i = n.child_count; i-- > 0;) open.push_back(Child(n, i));
    } else if (IsList(n)) {
      AddListed(node, &parts);
    } else {
      const std::optional<ValueType> type = TypeOf(node);
      if (!type.has_value()) return OtherShape();
      parts.push_back({*type, node});
    }
  }
  return parts;
}

std::optional<NodeId> ValueParts::Contents(NodeId string) const {
  const IrNode& n = ir_.nodes[string];
  if (n.kind != IrKind::kConcat || n.child_count != 3) return std::nullopt;
  const IrNode& encoded = ir_.nodes[Child(n, 1)];
  return encoded.kind == IrKind::kEncode ? std::optional(Child(encoded, 0)) : std::nullopt;
}

std::vector<std::u32string> ValueParts::Listed(NodeId contents) const {
  constexpr std::uint32_t kFew = 4096;  // of characters: more are a pattern's
  const IrNode* n = &ir_.nodes[contents];
  const bool may_be_empty =
      n->kind == IrKind::kRepeat && AsRepeat(*n).min == 0 && AsRepeat(*n).max == 1;
  if (may_be_empty) n = &ir_.nodes[Child(*n, 0)];
  std::vector<std::u32string> texts;
  if (n->kind == IrKind::kText) texts = {TextOf(ir_, *n)};
  if (n->kind == IrKind::kTextSet) texts = TextSetOf(ir_, *n);
  // Texts of one character each.
  if (n->kind == IrKind::kCharSet && CharSetOf(ir_, *n).CountWithin({0, kMaxCodePoint}) <= kFew) {
    for (const CharRange& range : CharSetOf(ir_, *n).ranges())
      for (std::uint32_t c = range.lo; c <= range.hi; ++c)
        texts.emplace_back(1, static_cast<char32_t>(c));
  }
  if (may_be_empty && !texts.empty()) texts.emplace_back();
  return texts;
}

absl::StatusOr<std::vector<NodeId>> ValueParts::FrameOf(NodeId array) const {
  std::vector<NodeId> frame = {array};
  absl::flat_hash_set<NodeId> seen = {array};
  std::int64_t brackets = Brackets(array);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    const IrNode n = ir_.nodes[frame[i]];
    if (n.kind == IrKind::kBytes) {
      const absl::string_view text = BytesOf(ir_, n);
      if (text.find_first_not_of("[], \t\n\r") != absl::string_view::npos) return OtherShape();
    } else if (n.kind == IrKind::kCall) {
      const NodeId body = ir_.rules[CalledRuleOf(n)].body;
      const IrKind kind = ir_.nodes[body].kind;
      // A place between items, not an item.
      if (kind != IrKind::kNothing && kind != IrKind::kCall && !Of(body).ok()) return OtherShape();
    } else if (n.kind != IrKind::kConcat && n.kind != IrKind::kAlt && n.kind != IrKind::kRepeat &&
               n.kind != IrKind::kByteSet && n.kind != IrKind::kEmpty) {
      return OtherShape();
    }
    for (std::uint32_t c = 0; c < n.child_count; ++c) {
      brackets += Brackets(Child(n, c));
      if (seen.insert(Child(n, c)).second) frame.push_back(Child(n, c));
    }
  }
  // A given array may hold others.
  if (brackets != 1) return OtherShape();
  std::sort(frame.begin(), frame.end());
  return frame;
}

std::int64_t ValueParts::Brackets(NodeId node) const {
  const IrNode& n = ir_.nodes[node];
  if (n.kind != IrKind::kBytes) return 0;
  const std::string& text = BytesOf(ir_, n);
  return std::count(text.begin(), text.end(), '[');
}

// Whether a node is a list of scalars as JSON spells them.
bool ValueParts::IsList(const IrNode& n) const {
  return n.kind == IrKind::kEncode && ir_.nodes[Child(n, 0)].kind == IrKind::kTextSet;
}

void ValueParts::AddListed(NodeId list, std::vector<Part>* parts) const {
  std::map<ValueType, std::vector<std::u32string>> by_type;
  for (const std::u32string& text : TextSetOf(ir_, ir_.nodes[Child(ir_.nodes[list], 0)])) {
    const std::optional<ValueType> type = TypeBegunBy(static_cast<char>(text.front()));
    by_type[type.value_or(ValueType::kNumber)].push_back(text);
  }
  for (auto& [type, texts] : by_type) parts->push_back({type, list, std::move(texts)});
}

std::optional<ValueType> ValueParts::TypeOf(NodeId node) const {
  for (;;) {
    const IrNode& n = ir_.nodes[node];
    switch (n.kind) {
      case IrKind::kBytes:
        return TypeBegunBy(BytesOf(ir_, n).front());
      case IrKind::kByteSet:
      case IrKind::kNumber:
        return ValueType::kNumber;
      case IrKind::kObject:
        return ObjectOf(ir_, n).is_array ? ValueType::kArray : ValueType::kObject;
      case IrKind::kBlock:
        return TypeBegunBy(AsBlock(n).open);
      case IrKind::kText:
        return TypeBegunBy(static_cast<char>(TextOf(ir_, n).front()));
      case IrKind::kConcat:
      case IrKind::kAlt:
      case IrKind::kRepeat:
      case IrKind::kEncode:
      case IrKind::kDistinct:
        node = Child(n, 0);
        break;
      default:
        return std::nullopt;
    }
  }
}

}  // namespace maskd
