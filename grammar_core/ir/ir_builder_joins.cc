// What IrBuilder makes of nodes that are joined: the laws of sequences, alternations, counts,
// intersections and complements by which equal languages become equal nodes. Alternatives are
// sorted out by kind first, so that bytes, characters, texts and counts each become one node.
//
// Invariant  a node is made of nodes that are in normal form, and is in normal form itself. The
//            children of an alternation or intersection are sorted, and none of them is one of its
//            own kind.
// Cost       linear in the children and their payloads, and a sort.
// Source     similarity as in Brzozowski 1964; Owens, Reppy and Turon 2009.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// Whether nothing in `nodes` joins, so that they are a sequence as they are: mostly copies of one.
bool IsSequence(const GrammarIr& ir, absl::Span<const NodeId> nodes) {
  if (nodes.size() < 2) return false;
  bool after_literal = false;
  std::optional<NodeId> last;  // what the node before is a power of
  for (const NodeId node : nodes) {
    const IrNode& n = ir.nodes[node];
    if (n.kind == IrKind::kNothing || n.kind == IrKind::kEmpty || n.kind == IrKind::kConcat)
      return false;
    const bool is_literal = n.kind == IrKind::kBytes || n.kind == IrKind::kText;
    const NodeId base = n.kind == IrKind::kRepeat ? ir.children[n.first_child] : node;
    if ((is_literal && after_literal) || last == base) return false;
    after_literal = is_literal;
    last = base;
  }
  return true;
}

// `nodes`, where the factors of a sequence stand in its place, and the empty text nowhere.
using Factors = absl::InlinedVector<NodeId, 16>;
Factors FactorsOf(const GrammarIr& ir, absl::Span<const NodeId> nodes) {
  Factors factors;
  for (const NodeId node : nodes) {
    const IrNode& n = ir.nodes[node];
    const NodeId* const first = ir.children.data() + n.first_child;
    if (n.kind == IrKind::kConcat)
      factors.insert(factors.end(), first, first + n.child_count);
    else if (n.kind != IrKind::kEmpty)
      factors.push_back(node);
  }
  return factors;
}

// Whether no two of `nodes` are made one, so that they are a choice as they are. A false answer
// costs time alone.
bool IsChoice(const GrammarIr& ir, const std::vector<NodeId>& nodes) {
  constexpr unsigned kByteSets = 1U << kSpellings;
  constexpr unsigned kTexts = kByteSets << 1U;
  unsigned seen = 0;
  const auto is_first = [&](unsigned group) {
    return (std::exchange(seen, seen | group) & group) == 0;
  };
  return nodes.size() > 1 && std::ranges::all_of(nodes, [&](NodeId node) {
           const IrNode& n = ir.nodes[node];
           switch (n.kind) {
             case IrKind::kNothing:
             case IrKind::kEmpty:
             case IrKind::kAlt:
             case IrKind::kRepeat:
               return false;
             case IrKind::kBytes:
               return BytesOf(ir, n).size() > 1;
             case IrKind::kByteSet:
               return is_first(kByteSets);
             case IrKind::kText:
             case IrKind::kTextSet:
             case IrKind::kCharSet:
               return is_first(kTexts);
             case IrKind::kEncode:
               return is_first(1U << static_cast<unsigned>(n.spelling));
             default:
               return true;
           }
         });
}

}  // namespace

struct IrBuilder::AltParts {
  std::vector<NodeId> others;
  bool has_empty = false;
  ByteBits bytes;
  std::vector<CharRange> chars;
  std::vector<std::u32string> texts;
  // What stands below Encode nodes, by spelling.
  std::vector<NodeId> encoded[kSpellings];
};

const CharSet* IrBuilder::AsCharSet(NodeId node) const {
  assert(node < ir_.nodes.size());
  const IrNode& n = ir_.nodes[node];
  return n.kind == IrKind::kCharSet ? &CharSetOf(ir_, n) : nullptr;
}

NodeId IrBuilder::And(std::vector<NodeId> nodes) {
  const NodeId everything = Repeat(AnyChar(), 0, kUnbounded);
  std::vector<NodeId> parts;
  for (const NodeId node : nodes) AppendFlat(IrKind::kAnd, node, &parts);
  std::optional<CharSet> set;
  std::vector<NodeId> kept;
  for (const NodeId node : parts) {
    if (node == Nothing()) return Nothing();
    if (node == everything) continue;
    if (const CharSet* chars = AsCharSet(node))
      set = set.has_value() ? set->Intersect(*chars) : *chars;
    else
      kept.push_back(node);
  }
  if (set.has_value()) kept.push_back(Chars(*set));
  SortUnique(&kept);
  if (kept.empty()) return everything;
  if (kept.front() == Nothing()) return Nothing();
  return kept.size() == 1 ? kept.front() : Intern(IrNode(IrKind::kAnd), kept);
}

NodeId IrBuilder::Not(NodeId node) {
  assert(node < ir_.nodes.size());
  const NodeId everything = Repeat(AnyChar(), 0, kUnbounded);
  if (node == Nothing()) return everything;
  if (node == everything) return Nothing();
  const IrNode& n = ir_.nodes[node];
  if (n.kind == IrKind::kNot) return ir_.children[n.first_child];
  return Intern(IrNode(IrKind::kNot), {node});
}

void IrBuilder::AppendFlat(IrKind kind, NodeId node, std::vector<NodeId>* out) const {
  assert(node < ir_.nodes.size());
  const IrNode& n = ir_.nodes[node];
  if (n.kind != kind) {
    out->push_back(node);
    return;
  }
  const auto first = ir_.children.begin() + n.first_child;
  out->insert(out->end(), first, first + n.child_count);
}

// Literals next to each other are gathered before one node is made of them: making it step by step
// would keep every prefix.
NodeId IrBuilder::Concat(absl::Span<const NodeId> nodes) {
  const Factors factors = FactorsOf(ir_, nodes);
  if (IsSequence(ir_, factors)) return Intern(IrNode(IrKind::kConcat), factors);
  std::vector<NodeId> sequence;
  sequence.reserve(2 * nodes.size());
  std::string bytes;
  std::u32string text;
  const auto end_literal = [&] {
    if (!bytes.empty()) sequence.push_back(Bytes(std::exchange(bytes, {})));
    if (!text.empty()) sequence.push_back(CodePoints(std::exchange(text, {})));
  };
  const auto add = [&](NodeId node) {
    const IrNode& n = ir_.nodes[node];
    if (n.kind == IrKind::kBytes) {
      bytes += BytesOf(ir_, n);
    } else if (n.kind == IrKind::kText) {
      text += TextOf(ir_, n);
    } else {
      end_literal();
      AppendFactor(node, &sequence);
    }
  };
  if (absl::c_linear_search(nodes, Nothing())) return Nothing();
  for (const NodeId node : factors) add(node);
  end_literal();
  if (sequence.empty()) return Empty();
  return sequence.size() == 1 ? sequence.front() : Intern(IrNode(IrKind::kConcat), sequence);
}

Power IrBuilder::PowerOf(NodeId node) const {
  assert(node < ir_.nodes.size());
  const IrNode& n = ir_.nodes[node];
  if (n.kind != IrKind::kRepeat) return {node, {1, 1}};
  const auto [min, max] = AsRepeat(n);
  assert(n.child_count == 1 && min <= max);
  return {ir_.children[n.first_child], {min, max}};
}

// x{a,b} x{c,d} is x{a+c,b+d}: what may end in many places then ends in one. Two of the same are
// left as they are, unless they are calls, of which ambiguous rules have many in a row.
void IrBuilder::AppendFactor(NodeId node, std::vector<NodeId>* sequence) {
  if (!sequence->empty()) {
    const Power last = PowerOf(sequence->back());
    const Power next = PowerOf(node);
    const bool joins =
        last.base != sequence->back() || next.base != node || ir_.nodes[node].kind == IrKind::kCall;
    const std::optional<Counts> sum = AddCounts(last.counts, next.counts);
    if (last.base == next.base && joins && sum.has_value()) {
      sequence->back() = Repeat(next.base, sum->min, sum->max);
      return;
    }
  }
  sequence->push_back(node);
}

// Of x{a,b} | x{c,d} makes one range where they touch; the empty text is x{0}.
void IrBuilder::UnitePowers(AltParts* parts) {
  std::vector<NodeId>& nodes = parts->others;
  const auto is_repeat = [&](NodeId node) { return ir_.nodes[node].kind == IrKind::kRepeat; };
  if (std::none_of(nodes.begin(), nodes.end(), is_repeat)) return;
  std::vector<Power> powers;
  for (const NodeId node : std::exchange(nodes, {})) powers.push_back(PowerOf(node));
  for (Power united : maskd::UnitePowers(std::move(powers))) {
    if (united.counts.max > 1 && united.counts.min <= 1 && parts->has_empty) united.counts.min = 0;
    if (united.counts.min == 0) parts->has_empty = false;
    nodes.push_back(Repeat(united.base, united.counts.min, united.counts.max));
  }
}

void IrBuilder::SortOut(NodeId node, AltParts* parts) const {
  const IrNode& n = ir_.nodes[node];
  if (n.kind == IrKind::kEmpty) {
    parts->has_empty = true;
  } else if (n.kind == IrKind::kByteSet) {
    parts->bytes |= ByteSetOf(ir_, n);
  } else if (n.kind == IrKind::kBytes && BytesOf(ir_, n).size() == 1) {
    parts->bytes.set(static_cast<unsigned char>(BytesOf(ir_, n)[0]));
  } else if (n.kind == IrKind::kCharSet) {
    const std::vector<CharRange>& ranges = CharSetOf(ir_, n).ranges();
    parts->chars.insert(parts->chars.end(), ranges.begin(), ranges.end());
  } else if (n.kind == IrKind::kText) {
    parts->texts.push_back(TextOf(ir_, n));
  } else if (n.kind == IrKind::kTextSet) {
    const std::vector<std::u32string>& texts = TextSetOf(ir_, n);
    parts->texts.insert(parts->texts.end(), texts.begin(), texts.end());
  } else if (n.kind == IrKind::kEncode) {
    parts->encoded[static_cast<int>(n.spelling)].push_back(ir_.children[n.first_child]);
  } else if (n.kind != IrKind::kNothing) {
    parts->others.push_back(node);
  }
}

// One-character texts join the characters where there are any.
void IrBuilder::AddMerged(AltParts* parts) {
  std::vector<std::u32string>& texts = parts->texts;
  if (!parts->chars.empty()) {
    std::erase_if(texts, [&](const std::u32string& text) {
      if (text.size() == 1) parts->chars.push_back({text.front(), text.front()});
      return text.size() == 1;
    });
    parts->others.push_back(Chars(CharSet(std::move(parts->chars))));
  }
  if (!texts.empty()) parts->others.push_back(CodePointSet(std::move(texts)));
  if (parts->bytes.any()) parts->others.push_back(ByteSet(parts->bytes));
}

NodeId IrBuilder::Alt(std::vector<NodeId> nodes) {
  if (IsChoice(ir_, nodes)) {
    SortUnique(&nodes);
    return nodes.size() == 1 ? nodes.front() : Intern(IrNode(IrKind::kAlt), nodes);
  }
  AltParts parts;
  for (const NodeId node : nodes) {
    parts.has_empty |= PowerOf(node).counts == Counts{0, 1};
    ForEachAlternative(node, [&](NodeId way) { SortOut(way, &parts); });
  }
  for (const Spelling spelling :
       {Spelling::kUtf8, Spelling::kJsonString, Spelling::kCanonicalJson}) {
    std::vector<NodeId>& encoded = parts.encoded[static_cast<int>(spelling)];
    if (!encoded.empty()) parts.others.push_back(Encode(spelling, Alt(std::move(encoded))));
  }
  AddMerged(&parts);
  UnitePowers(&parts);
  std::vector<NodeId>& kept = parts.others;
  SortUnique(&kept);
  if (kept.empty()) return parts.has_empty ? Empty() : Nothing();
  const NodeId all = kept.size() == 1 ? kept.front() : Intern(IrNode(IrKind::kAlt), kept);
  return parts.has_empty ? Repeat(all, 0, 1) : all;
}

NodeId IrBuilder::Repeat(NodeId node, std::uint32_t min, std::uint32_t max) {
  if (min > max || (node == Nothing() && min > 0)) return Nothing();
  if (max == 0 || node == Nothing() || node == Empty()) return Empty();
  if (min == 1 && max == 1) return node;
  const Power inner = PowerOf(node);
  const std::optional<NestedCounts> nested = NestCounts(inner.counts, {min, max});
  const bool is_nested = inner.base != node && nested.has_value();
  if (!is_nested || (nested->or_none && max == 1))
    return Intern(IrPayload::Node(IrKind::kRepeat, min, max), {node});
  const bool bounded = nested->max != NestedCounts::kNoBound;
  const std::uint64_t largest = bounded ? nested->max : nested->min;
  if (largest > kMaxRepeats) {
    if (error_.ok()) {
      const std::uint64_t told = std::min<std::uint64_t>(largest, INT64_MAX);
      error_ = LimitExceeded("", "repeat_count", kMaxRepeats, static_cast<std::int64_t>(told));
    }
    return Nothing();
  }
  const NodeId counted =
      Intern(IrPayload::Node(IrKind::kRepeat, static_cast<std::uint32_t>(nested->min),
                             bounded ? static_cast<std::uint32_t>(nested->max) : kUnbounded),
             {inner.base});
  return nested->or_none ? Intern(IrPayload::Node(IrKind::kRepeat, 0, 1), {counted}) : counted;
}

}  // namespace maskd
