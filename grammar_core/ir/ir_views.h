// What an IR node of each kind holds, by name. The two fields of IrNode itself mean something else
// for each kind, so they are private: IrPayload (grammar_ir.h) reads and writes them, and only this
// room names it (tools/dev/check_ir_fields.py).
//
//   if (node.kind == IrKind::kRepeat) return AsRepeat(node).min > 0;
//
// Requires  a node of that kind: asserted.
// Threads   plain values, and references into the IR.
#ifndef MASKD_GRAMMAR_CORE_IR_IR_VIEWS_H_
#define MASKD_GRAMMAR_CORE_IR_IR_VIEWS_H_

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// How often the child of a kRepeat stands; `max`: kUnbounded for any number.
struct RepeatNode {
  std::uint32_t min;
  std::uint32_t max;
};
// The view of a kRepeat.
inline RepeatNode AsRepeat(const IrNode& node) {
  assert(node.kind == IrKind::kRepeat);
  return {IrPayload::First(node), IrPayload::Second(node)};
}

// A block of lines: the spaces that each level adds, and its opening bracket.
struct BlockNode {
  std::uint32_t spaces;
  char open;
  // The bracket that ends it.
  [[nodiscard]] char close() const { return open == '{' ? '}' : ']'; }
};
// The view of a kBlock.
inline BlockNode AsBlock(const IrNode& node) {
  assert(node.kind == IrKind::kBlock);
  return {IrPayload::First(node), static_cast<char>(IrPayload::Second(node))};
}
// The spaces that each level adds behind the line feed of a kBreak.
inline std::uint32_t BreakSpacesOf(const IrNode& node) {
  assert(node.kind == IrKind::kBreak);
  return IrPayload::First(node);
}

// The rule that a kCall calls.
inline RuleId CalledRuleOf(const IrNode& node) {
  assert(node.kind == IrKind::kCall);
  return IrPayload::First(node);
}
// How many tokens may hold a part of a kLimited.
inline std::uint32_t MostTokensOf(const IrNode& node) {
  assert(node.kind == IrKind::kLimited);
  return IrPayload::First(node);
}

// Whether a node of that kind names an entry of a pool of the IR.
constexpr bool HasPool(IrKind kind) {
  switch (kind) {
    case IrKind::kBytes:
    case IrKind::kByteSet:
    case IrKind::kTokens:
    case IrKind::kText:
    case IrKind::kTextSet:
    case IrKind::kCharSet:
    case IrKind::kNumber:
    case IrKind::kObject:
    case IrKind::kDistinct:
      return true;
    default:
      return false;
  }
}
// The index of that entry in the pool of its kind.
inline std::uint32_t PoolIndexOf(const IrNode& node) {
  assert(HasPool(node.kind));
  return IrPayload::First(node);
}

// The entry itself, of a node of each kind.
inline const std::string& BytesOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kBytes);
  return ir.byte_strings[IrPayload::First(node)];
}
// The same, of the kind that each function is named for. References are good as long as the IR
// stays as it is.
inline const ByteBits& ByteSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kByteSet);
  return ir.byte_sets[IrPayload::First(node)];
}
inline const TokenSpec& TokensOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kTokens);
  return ir.token_specs[IrPayload::First(node)];
}
inline const std::u32string& TextOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kText);
  return ir.texts[IrPayload::First(node)];
}
inline const std::vector<std::u32string>& TextSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kTextSet);
  return ir.text_sets[IrPayload::First(node)];
}
inline const CharSet& CharSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kCharSet);
  return ir.char_sets[IrPayload::First(node)];
}
inline const NumberSpec& NumberOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kNumber);
  return ir.numbers[IrPayload::First(node)];
}
inline const ObjectSpec& ObjectOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kObject);
  return ir.objects[IrPayload::First(node)];
}
inline const DistinctSpec& DistinctOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kDistinct);
  return ir.distinct[IrPayload::First(node)];
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_IR_VIEWS_H_
