// What an IR node of each kind holds, by name. Outside of this room the two fields of IrNode itself
// are not read (tools/dev/check_ir_fields.py): they mean something else for each kind.
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
// Of a kRepeat.
inline RepeatNode AsRepeat(const IrNode& node) {
  assert(node.kind == IrKind::kRepeat);
  return {node.a, node.b};
}

// A block of lines: the spaces that each level adds, and its opening bracket.
struct BlockNode {
  std::uint32_t spaces;
  char open;
  // The bracket that ends it.
  [[nodiscard]] char close() const { return open == '{' ? '}' : ']'; }
};
// Of a kBlock.
inline BlockNode AsBlock(const IrNode& node) {
  assert(node.kind == IrKind::kBlock);
  return {node.a, static_cast<char>(node.b)};
}
// The spaces that each level adds behind the line feed of a kBreak.
inline std::uint32_t BreakSpacesOf(const IrNode& node) {
  assert(node.kind == IrKind::kBreak);
  return node.a;
}

// The rule that a kCall calls.
inline RuleId CalledRuleOf(const IrNode& node) {
  assert(node.kind == IrKind::kCall);
  return node.a;
}
// How many tokens may hold a part of a kLimited.
inline std::uint32_t MostTokensOf(const IrNode& node) {
  assert(node.kind == IrKind::kLimited);
  return node.a;
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
  return node.a;
}

// The entry itself, of a node of each kind.
inline const std::string& BytesOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kBytes);
  return ir.byte_strings[node.a];
}
// The same, of the kind that each function is named for. References are good as long as the IR
// stays as it is.
inline const ByteBits& ByteSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kByteSet);
  return ir.byte_sets[node.a];
}
inline const std::u32string& TextOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kText);
  return ir.texts[node.a];
}
inline const std::vector<std::u32string>& TextSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kTextSet);
  return ir.text_sets[node.a];
}
inline const CharSet& CharSetOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kCharSet);
  return ir.char_sets[node.a];
}
inline const NumberSpec& NumberOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kNumber);
  return ir.numbers[node.a];
}
inline const ObjectSpec& ObjectOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kObject);
  return ir.objects[node.a];
}
inline const DistinctSpec& DistinctOf(const GrammarIr& ir, const IrNode& node) {
  assert(node.kind == IrKind::kDistinct);
  return ir.distinct[node.a];
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_IR_VIEWS_H_
