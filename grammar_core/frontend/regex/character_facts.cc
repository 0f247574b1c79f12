// A node's least and greatest length and its first and last characters are made from those of its
// children: sums along a sequence, the hull over an alternation, the narrowest over an
// intersection. What is not known (a complement, a call) is any length and any character.
//
// Invariant  children have smaller numbers than their node, so the stack of open nodes ends.
// Cost       each node once for each of three maps, and one unit of the budget.
#include "grammar_core/frontend/regex/character_facts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

constexpr Widths kAnyWidths = {0, Widths::kMany};

std::int64_t Product(std::int64_t width, std::uint32_t rounds) {
  assert(width >= 0 && width <= Widths::kMany);
  if (width == 0 || rounds == 0) return 0;
  if (rounds == kUnbounded || width > Widths::kMany / rounds) return Widths::kMany;
  return width * rounds;
}

void Append(const CharSet& set, std::vector<CharRange>* ranges) {
  ranges->insert(ranges->end(), set.ranges().begin(), set.ranges().end());
}

Widths WidthsOfAny(const std::vector<std::u32string>& texts) {
  assert(!texts.empty());
  Widths all = {Widths::kMany, 0};
  for (const std::u32string& text : texts) {
    const auto size = static_cast<std::int64_t>(text.size());
    all = {std::min(all.min, size), std::max(all.max, size)};
  }
  return all;
}

}  // namespace

Widths Widths::Then(const Widths& next) const {
  return {std::min(min + next.min, kMany), std::min(max + next.max, kMany)};
}

Widths Widths::Or(const Widths& other) const {
  return {std::min(min, other.min), std::max(max, other.max)};
}

Widths Widths::Times(std::uint32_t rounds_min, std::uint32_t rounds_max) const {
  return {Product(min, rounds_min), Product(max, rounds_max)};
}

absl::Span<const NodeId> CharacterFacts::ChildrenOf(const IrNode& node) const {
  return absl::MakeConstSpan(builder_->ir().children).subspan(node.first_child, node.child_count);
}

// Children have smaller numbers, so there are no cycles.
template <typename T, typename Make>
const T& CharacterFacts::Known(absl::flat_hash_map<NodeId, T>* known, NodeId root,
                               const Make& make) {
  std::vector<NodeId> open = {root};
  while (!open.empty()) {
    const NodeId node = open.back();
    if (known->contains(node) || !budget_->Spend().ok()) {
      open.pop_back();
      continue;
    }
    const std::size_t before = open.size();
    for (const NodeId child : ChildrenOf(builder_->node(node)))
      if (!known->contains(child)) open.push_back(child);
    if (open.size() > before) continue;
    open.pop_back();
    known->emplace(node, make(builder_->node(node)));
  }
  return (*known)[root];
}

Widths CharacterFacts::WidthsOf(NodeId node) {
  return Known(&widths_, node, [this](const IrNode& n) { return MadeWidths(n); });
}

Widths CharacterFacts::MadeWidths(const IrNode& node) const {
  const absl::Span<const NodeId> children = ChildrenOf(node);
  const auto of = [this](NodeId child) { return widths_.at(child); };
  switch (node.kind) {
    case IrKind::kEmpty:
      return {0, 0};
    case IrKind::kCharSet:
      return {1, 1};
    case IrKind::kText:
      return WidthsOfAny({TextOf(builder_->ir(), node)});
    case IrKind::kTextSet:
      return WidthsOfAny(TextSetOf(builder_->ir(), node));
    case IrKind::kRepeat:
      assert(children.size() == 1);
      return of(children.front()).Times(AsRepeat(node).min, AsRepeat(node).max);
    case IrKind::kConcat: {
      Widths all = {0, 0};
      for (const NodeId child : children) all = all.Then(of(child));
      return all;
    }
    case IrKind::kAlt: {
      Widths all = of(children.front());
      for (const NodeId child : children) all = all.Or(of(child));
      return all;
    }
    case IrKind::kAnd: {
      Widths all = of(children.front());
      for (const NodeId child : children)
        all = {std::max(all.min, of(child).min), std::min(all.max, of(child).max)};
      return all;
    }
    default:
      return kAnyWidths;
  }
}

CharSet CharacterFacts::CharsAt(TextEdge edge, NodeId node) {
  WidthsOf(node);
  return Known(&chars_[static_cast<int>(edge)], node,
               [this, edge](const IrNode& n) { return MadeChars(edge, n); });
}

CharSet CharacterFacts::MadeChars(TextEdge edge, const IrNode& node) const {
  std::vector<CharRange> ranges;
  const auto add = [&](const std::u32string& text) {
    const std::uint32_t c = edge == TextEdge::kFirst ? text.front() : text.back();
    ranges.push_back({c, c});
  };
  switch (node.kind) {
    case IrKind::kNothing:
    case IrKind::kEmpty:
      return CharSet();
    case IrKind::kCharSet:
      return CharSetOf(builder_->ir(), node);
    case IrKind::kText:
      add(TextOf(builder_->ir(), node));
      return CharSet(std::move(ranges));
    case IrKind::kTextSet:
      for (const std::u32string& text : TextSetOf(builder_->ir(), node))
        if (!text.empty()) add(text);
      return CharSet(std::move(ranges));
    case IrKind::kConcat:
    case IrKind::kAlt:
    case IrKind::kRepeat:
      return CharsOfChildren(edge, node);
    case IrKind::kAnd: {
      CharSet all = CharSet::All();
      for (const NodeId child : ChildrenOf(node))
        all = all.Intersect(chars_[static_cast<int>(edge)].at(child));
      return all;
    }
    default:
      return CharSet::All();
  }
}

CharSet CharacterFacts::CharsOfChildren(TextEdge edge, const IrNode& node) const {
  const absl::Span<const NodeId> children = ChildrenOf(node);
  std::vector<CharRange> ranges;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const NodeId child = children[edge == TextEdge::kFirst ? i : children.size() - 1 - i];
    Append(chars_[static_cast<int>(edge)].at(child), &ranges);
    if (node.kind == IrKind::kConcat && widths_.at(child).min > 0) break;
  }
  return CharSet(std::move(ranges));
}

}  // namespace maskd
