// Values as the IR of a JSON Schema has them, taken apart by their types: for those who write them
// otherwise than as JSON.
//
// Errors   UNIMPLEMENTED, without a place, for an IR of another shape.
// Threads  no state; `ir` and `budget` must outlive it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_VALUE_PARTS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_VALUE_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// What a value begins with, so what it is.
enum class ValueType : std::uint8_t { kString, kNumber, kBoolean, kNull, kArray, kObject };

// Reads the IR that json_schema makes, whose shape it knows; nothing of it is changed.
class ValueParts {
 public:
  // Of one type; a value that may be of several types has several.
  struct Part {
    ValueType type;
    NodeId node;
    // Those texts of `node` that are of the type, where it is a list of more than one type.
    std::vector<std::u32string> texts = {};
  };

  // Cheap: it keeps both by reference.
  ValueParts(const GrammarIr& ir, Budget& budget) : ir_(ir), budget_(budget) {}

  // The parts that `value` is a choice of, through calls of rules.
  [[nodiscard]] absl::StatusOr<std::vector<Part>> Of(NodeId value) const;

  // The characters of a string's contents; nothing where it is empty.
  [[nodiscard]] std::optional<NodeId> Contents(NodeId string) const;

  // The texts that these contents are one of; none where they are not a list of few.
  [[nodiscard]] std::vector<std::u32string> Listed(NodeId contents) const;

  // `array` made again: make(node, its new children) makes each node that is neither a value, which
  // is a call, nor within one.
  template <typename Make>
  [[nodiscard]] absl::StatusOr<NodeId> Remade(NodeId array, Make make) const {
    const absl::StatusOr<std::vector<NodeId>> frame = FrameOf(array);
    if (!frame.ok()) return frame.status();
    absl::flat_hash_map<NodeId, NodeId> made;
    for (const NodeId node : *frame) {
      std::vector<NodeId> children;
      for (std::uint32_t i = 0; i < ir_.nodes[node].child_count; ++i)
        children.push_back(made[Child(ir_.nodes[node], i)]);
      made[node] = make(node, children);
    }
    return made[array];
  }

 private:
  // The nodes of `array` that are remade, each before those it is in.
  [[nodiscard]] absl::StatusOr<std::vector<NodeId>> FrameOf(NodeId array) const;
  [[nodiscard]] NodeId Child(const IrNode& n, std::uint32_t i) const {
    return ir_.children[n.first_child + i];
  }
  [[nodiscard]] std::optional<ValueType> TypeOf(NodeId node) const;
  // How many arrays its bytes open.
  [[nodiscard]] std::int64_t Brackets(NodeId node) const;
  [[nodiscard]] bool IsList(const IrNode& n) const;
  void AddListed(NodeId list, std::vector<Part>* parts) const;

  const GrammarIr& ir_;
  Budget& budget_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_VALUE_PARTS_H_
