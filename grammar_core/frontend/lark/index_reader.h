// The indices of rules in a Lark grammar: what stands behind "rule::" and behind "%if".
//
// Depth    conditions in conditions: limits.source_depth, on a stack of our own.
// Errors   INVALID_ARGUMENT at line:column.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_INDEX_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_INDEX_READER_H_

#include "absl/status/statusor.h"

#include "grammar_core/frontend/notation/rule_index.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Reads the index of a call: 12, 0x0c, _, set_bit(3), incr([0:4]), ...
absl::StatusOr<IndexStep> ReadIndexStep(SourceReading& reading);

// Reads a condition: true, bit_set(3), and(lt(_, 12), not(is_zeros([0:4]))), ...
absl::StatusOr<IndexCondition> ReadIndexCondition(SourceReading& reading);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_INDEX_READER_H_
