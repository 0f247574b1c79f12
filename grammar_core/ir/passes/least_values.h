// How many JSON values the texts of a node have at least: values, not texts, so that white space,
// escapes and the spelling of a number do not count.
//
// How      a bound from below for each node out of those of its parts, up to kAmpleTexts; round by
//          round, as calls may reach ahead. What it says is certain after every round.
// Errors   those of the budget.
// Threads  one thread to find, then constant.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEAST_VALUES_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEAST_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Call Find() once, then Of() as often as needed.
class LeastValues {
 public:
  // `ir` must outlive this and hold no part that no text matches.
  explicit LeastValues(const GrammarIr& ir) : ir_(ir), counts_(ir.nodes.size(), 0) {}

  // A round reads each node once; rounds end when no bound grows.
  absl::Status Find(Budget& budget);

  // The bound found for that node; at most kAmpleTexts.
  [[nodiscard]] std::int64_t Of(NodeId node) const { return counts_[node]; }

 private:
  [[nodiscard]] std::int64_t Count(const IrNode& n) const;
  [[nodiscard]] std::int64_t CountChoice(const IrNode& n) const;
  [[nodiscard]] std::int64_t CountRepeat(const IrNode& n) const;
  [[nodiscard]] std::int64_t CountBoth(const IrNode& n) const;
  [[nodiscard]] bool IsLeastLength(NodeId part) const;
  [[nodiscard]] std::int64_t CountDistinct(const IrNode& n) const;
  [[nodiscard]] std::int64_t CountObject(const ObjectSpec& spec) const;
  [[nodiscard]] std::int64_t CountItems(const ObjectSpec& spec) const;
  [[nodiscard]] std::int64_t Most(const IrNode& n) const;

  const GrammarIr& ir_;
  std::vector<std::int64_t> counts_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEAST_VALUES_H_
