#include "grammar_core/ir/passes/ir_copier.h"

#include <cassert>
#include <cstdint>
#include <utility>

#include "grammar_core/ir/ir_views.h"

namespace maskd {

absl::Status IrCopier::Copy(NodeId node, Budget& budget) {
  assert(node < from_.nodes.size());
  const IrNode& n = from_.nodes[node];
  const auto units = static_cast<std::int64_t>(1 + n.child_count + PayloadSize(n));
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  const std::optional<NodeId> hooked = hook_ ? hook_(n) : std::nullopt;
  copies_[node] = hooked.has_value() ? *hooked : Made(n);
  return to_->status();
}

std::size_t IrCopier::PayloadSize(const IrNode& n) const {
  switch (n.kind) {
    case IrKind::kText:
      return TextOf(from_, n).size() / sizeof(char32_t);
    case IrKind::kObject:
      return ObjectOf(from_, n).members.size();
    default:
      return 0;
  }
}

ObjectSpec IrCopier::Mapped(ObjectSpec spec) const {
  MapNodes(&spec, copies_);
  return spec;
}

NodeId IrCopier::Made(const IrNode& n) {
  auto& children = children_;
  children.clear();
  for (std::uint32_t i = 0; i < n.child_count; ++i)
    children.push_back(copies_[from_.children[n.first_child + i]]);
  switch (n.kind) {
    case IrKind::kNothing:
      return to_->Nothing();
    case IrKind::kEmpty:
      return to_->Empty();
    case IrKind::kBytes:
      return to_->Bytes(BytesOf(from_, n));
    case IrKind::kByteSet:
      return to_->ByteSet(ByteSetOf(from_, n));
    case IrKind::kTokens:
      return to_->Tokens(Payload(&GrammarIr::token_specs, PoolIndexOf(n)));
    case IrKind::kText:
      return to_->CodePoints(Payload(&GrammarIr::texts, PoolIndexOf(n)));
    case IrKind::kTextSet:
      return to_->CodePointSet(Payload(&GrammarIr::text_sets, PoolIndexOf(n)));
    case IrKind::kCharSet:
      return to_->Chars(CharSetOf(from_, n));
    case IrKind::kConcat:
      return to_->Concat(children);
    case IrKind::kAlt:
      return to_->Alt({children.begin(), children.end()});
    case IrKind::kRepeat:
      return to_->Repeat(children[0], AsRepeat(n).min, AsRepeat(n).max);
    case IrKind::kAnd:
      return to_->And({children.begin(), children.end()});
    case IrKind::kNot:
      return to_->Not(children[0]);
    case IrKind::kEncode:
      return to_->Encode(n.spelling, children[0]);
    case IrKind::kCall:
      return to_->Call(rules_[CalledRuleOf(n)]);
    case IrKind::kNumber:
      return to_->Number(NumberOf(from_, n));
    case IrKind::kObject:
      return to_->Object(Mapped(Payload(&GrammarIr::objects, PoolIndexOf(n))));
    case IrKind::kDistinct:
      return to_->Distinct(children[0], {children.begin() + 1, children.end()},
                           DistinctOf(from_, n));
    case IrKind::kLimited:
      return to_->Limited(children[0], MostTokensOf(n));
    case IrKind::kBreak:
      return to_->Break(BreakSpacesOf(n));
    case IrKind::kBlock:
      return to_->Block(AsBlock(n).open, children[0], AsBlock(n).spaces);
  }
  return to_->Nothing();
}

}  // namespace maskd
