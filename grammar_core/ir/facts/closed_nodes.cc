// Schemas of tools are made of much the same: strings, numbers, the white space between. A hash
// that does not depend on the numbers of nodes finds those again in another IR, without a look at
// what they are made of.
//
// Invariant  a closed node has closed nodes alone below it.
// Cost       each node once, and the bytes of its payload.
#include "grammar_core/ir/facts/closed_nodes.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/pool_keys.h"

namespace maskd {
namespace {

constexpr std::uint64_t kSeed = 0x636C6F73;

absl::string_view AsBytes(const std::u32string& text) {
  return {reinterpret_cast<const char*>(text.data()), text.size() * sizeof(char32_t)};
}

// What the node says beside its kind and children; nothing for a node that is not closed.
std::optional<Hash128> HashPayload(const GrammarIr& ir, const IrNode& node, Hash128 hash) {
  if (const auto literal = MixLiteral(ir, node, hash); literal.has_value()) return literal;
  switch (node.kind) {
    case IrKind::kNumber:
      return MixBytes(hash, NumberKey(NumberOf(ir, node)));
    case IrKind::kTokens:
    case IrKind::kCall:
    case IrKind::kObject:
    case IrKind::kDistinct:
      return std::nullopt;
    default:
      return Mix(hash, (std::uint64_t{IrPayload::First(node)} << 32U) + IrPayload::Second(node));
  }
}

// The children of a choice are in the order of their numbers, which mean nothing.
Hash128 HashOf(const GrammarIr& ir, const IrNode& node, const std::vector<Hash128>& hashes) {
  const std::uint64_t kinds =
      (static_cast<std::uint64_t>(node.kind) << 8U) + static_cast<std::uint64_t>(node.spelling);
  const Hash128 hash = Mix(Hash128{}, kSeed + (kinds << 32U) + node.child_count);
  const std::optional<Hash128> payload = HashPayload(ir, node, hash);
  if (!payload.has_value()) return {};
  assert(node.first_child + node.child_count <= ir.children.size());
  const bool is_ordered = node.kind != IrKind::kAlt && node.kind != IrKind::kAnd;
  Hash128 children;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const Hash128& child = hashes[ir.children[node.first_child + i]];
    if (child == Hash128{}) return {};
    children = is_ordered ? Mix(children, child) : MixUnordered(children, child);
  }
  return node.child_count == 0 ? *payload : Mix(*payload, children);
}

}  // namespace

std::optional<Hash128> MixLiteral(const GrammarIr& ir, const IrNode& node, Hash128 hash) {
  switch (node.kind) {
    case IrKind::kBytes:
      return MixBytes(hash, BytesOf(ir, node));
    case IrKind::kByteSet:
      return MixBits(hash, ByteSetOf(ir, node));
    case IrKind::kText:
      return MixBytes(hash, AsBytes(TextOf(ir, node)));
    case IrKind::kTextSet:
      for (const std::u32string& text : TextSetOf(ir, node)) hash = MixBytes(hash, AsBytes(text));
      return hash;
    case IrKind::kCharSet:
      for (const CharRange& range : CharSetOf(ir, node).ranges())
        hash = Mix(Mix(hash, range.lo), range.hi);
      return hash;
    default:
      return std::nullopt;
  }
}

std::vector<Hash128> HashClosedNodes(const GrammarIr& ir, std::vector<Hash128> known) {
  std::vector<Hash128> hashes = std::move(known);
  hashes.resize(ir.nodes.size());
  for (NodeId node = 0; node < ir.nodes.size(); ++node)
    if (hashes[node] == Hash128{}) hashes[node] = HashOf(ir, ir.nodes[node], hashes);
  return hashes;
}

}  // namespace maskd
