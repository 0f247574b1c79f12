// A node maps a set of places in the text to the set of places where its matches end. Sets go
// through the operators from the leaves up, so nothing is tried twice and there is no backtracking.
// Only And and Not ask for each place by itself, and keep what they found: one in another is asked
// for the same place again and again.
//
// Invariant  a set has a bit for each place from 0 to the size of the text.
// Cost       nodes times the size of the text; under an And or Not times the size once more.
//            Recursion is as deep as the node.
#include "grammar_core/ir/text_match.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// A set of places between the characters of the text, one bit each from 0 to its size.
using Places = std::vector<bool>;

// Bits of all sets that are kept: 4 MiB.
constexpr std::size_t kMaxKnownPlaces = std::size_t{1} << 25;

bool Any(const Places& places) {
  return std::find(places.begin(), places.end(), true) != places.end();
}

void Add(const Places& more, Places* places) {
  assert(more.size() == places->size());
  for (std::size_t i = 0; i < more.size(); ++i)
    if (more[i]) (*places)[i] = true;
}

class TextMatcher {
 public:
  TextMatcher(const GrammarIr& ir, const std::u32string& text, Budget& budget)
      : ir_(ir), text_(text), budget_(budget) {}

  absl::StatusOr<bool> Matches(NodeId characters) {
    const bool matches = Ends(characters, Only(0)).back();
    if (!status_.ok()) return status_;
    return matches;
  }

 private:
  [[nodiscard]] Places None() const { return Places(text_.size() + 1, false); }

  [[nodiscard]] Places Only(std::size_t place) const {
    Places places = None();
    assert(place < places.size());
    places[place] = true;
    return places;
  }

  [[nodiscard]] absl::Span<const NodeId> Children(const IrNode& node) const {
    return absl::MakeConstSpan(ir_.children).subspan(node.first_child, node.child_count);
  }

  // The places where a match of `id` that begins at one of `from` can end.
  Places Ends(NodeId id, const Places& from) {
    assert(id < ir_.nodes.size() && from.size() == text_.size() + 1);
    if (status_.ok()) status_ = budget_.Spend(1 + static_cast<std::int64_t>(text_.size() / 16));
    if (!status_.ok() || !Any(from)) return None();
    const IrNode& node = ir_.nodes[id];
    switch (node.kind) {
      case IrKind::kEmpty:
        return from;
      case IrKind::kText:
        return AfterText(TextOf(ir_, node), from);
      case IrKind::kTextSet:
        return AfterTextSet(TextSetOf(ir_, node), from);
      case IrKind::kCharSet:
        return AfterChar(CharSetOf(ir_, node), from);
      case IrKind::kConcat:
        return AfterConcat(node, from);
      case IrKind::kAlt:
        return AfterAlt(node, from);
      case IrKind::kRepeat:
        return AfterRepeat(node, from);
      case IrKind::kAnd:
      case IrKind::kNot:
        return AfterEach(id, from);
      default:
        return None();  // kNothing; the other kinds are no characters
    }
  }

  Places AfterText(const std::u32string& part, const Places& from) const {
    Places ends = None();
    for (std::size_t i = 0; i + part.size() <= text_.size(); ++i)
      if (from[i] && text_.compare(i, part.size(), part) == 0) ends[i + part.size()] = true;
    return ends;
  }

  Places AfterTextSet(const std::vector<std::u32string>& parts, const Places& from) const {
    Places ends = None();
    for (const std::u32string& part : parts) Add(AfterText(part, from), &ends);
    return ends;
  }

  Places AfterChar(const CharSet& set, const Places& from) const {
    Places ends = None();
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (from[i] && set.Contains(text_[i])) ends[i + 1] = true;
    return ends;
  }

  Places AfterConcat(const IrNode& node, Places places) {
    for (const NodeId child : Children(node)) places = Ends(child, places);
    return places;
  }

  Places AfterAlt(const IrNode& node, const Places& from) {
    Places ends = None();
    for (const NodeId child : Children(node)) Add(Ends(child, from), &ends);
    return ends;
  }

  // Round by round, until a round adds nothing: one that comes after the least count and reaches
  // only places reached before, or one that leaves the places as they were.
  Places AfterRepeat(const IrNode& node, Places places) {
    assert(node.child_count == 1);
    const auto [least, most] = AsRepeat(node);
    Places ends = least == 0 ? places : None();
    for (std::uint32_t count = 1; count <= most && Any(places) && status_.ok(); ++count) {
      Places next = Ends(Children(node)[0], places);
      const bool settled = next == places;
      places = std::move(next);
      Places before = ends;
      if (settled || count >= least) Add(places, &ends);
      if (settled || (count >= least && before == ends)) break;
    }
    return ends;
  }

  // What an And or Not matches depends on where it begins.
  Places AfterEach(NodeId id, const Places& from) {
    Places ends = None();
    for (std::size_t i = 0; i < from.size() && status_.ok(); ++i)
      if (from[i]) Add(AfterOne(id, i), &ends);
    return ends;
  }

  Places AfterOne(NodeId id, std::size_t begin) {
    const auto found = known_.find({id, begin});
    if (found != known_.end()) return found->second;
    const IrNode& node = ir_.nodes[id];
    Places all(text_.size() + 1, true);
    std::fill_n(all.begin(), begin, false);
    for (const NodeId child : Children(node)) {
      const Places of_child = Ends(child, Only(begin));
      const bool wanted = node.kind == IrKind::kAnd;
      for (std::size_t k = begin; k < all.size(); ++k) all[k] = all[k] && of_child[k] == wanted;
    }
    if (known_.size() * all.size() < kMaxKnownPlaces) known_.emplace(std::pair(id, begin), all);
    return all;
  }

  const GrammarIr& ir_;
  const std::u32string& text_;
  Budget& budget_;
  absl::Status status_;
  // What an And or Not reaches from a place, as many as there is room for.
  absl::flat_hash_map<std::pair<NodeId, std::size_t>, Places> known_;
};

}  // namespace

absl::StatusOr<bool> MatchesText(const GrammarIr& ir, NodeId characters, const std::u32string& text,
                                 Budget& budget) {
  return TextMatcher(ir, text, budget).Matches(characters);
}

}  // namespace maskd
