// How long the texts of a node of characters are, and which characters they begin and end with.
//
// Exactness  bounds: every text keeps to them; not every bound is met.
// Cost       once a node; paid by the budget, whose end leaves bounds that mean nothing.
// Threads    one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHARACTER_FACTS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHARACTER_FACTS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// From min to max characters.
struct Widths {
  // As many or more: no bound.
  static constexpr std::int64_t kMany = std::int64_t{1} << 40;

  std::int64_t min;
  std::int64_t max;

  // Whether there is a longest text, and whether all are of one length.
  [[nodiscard]] bool bounded() const { return max < kMany; }
  [[nodiscard]] bool fixed() const { return min == max && bounded(); }
  bool operator==(const Widths&) const = default;

  // Those of one behind the other, of either, and of some rounds.
  [[nodiscard]] Widths Then(const Widths& next) const;
  [[nodiscard]] Widths Or(const Widths& other) const;
  [[nodiscard]] Widths Times(std::uint32_t rounds_min, std::uint32_t rounds_max) const;
};

// The two ends of a text.
enum class TextEdge : std::uint8_t { kFirst, kLast };

// Knows the nodes of one builder, each looked at once.
class CharacterFacts {
 public:
  // Both must outlive this.
  CharacterFacts(const IrBuilder* builder, Budget* budget) : builder_(builder), budget_(budget) {}

  // `node` is of characters.
  Widths WidthsOf(NodeId node);
  CharSet CharsAt(TextEdge edge, NodeId node);

 private:
  template <typename T, typename Make>
  const T& Known(absl::flat_hash_map<NodeId, T>* known, NodeId root, const Make& make);
  [[nodiscard]] Widths MadeWidths(const IrNode& node) const;
  [[nodiscard]] CharSet MadeChars(TextEdge edge, const IrNode& node) const;
  [[nodiscard]] CharSet CharsOfChildren(TextEdge edge, const IrNode& node) const;
  [[nodiscard]] absl::Span<const NodeId> ChildrenOf(const IrNode& node) const;

  const IrBuilder* const builder_;
  Budget* const budget_;
  absl::flat_hash_map<NodeId, Widths> widths_;
  absl::flat_hash_map<NodeId, CharSet> chars_[2];
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CHARACTER_FACTS_H_
