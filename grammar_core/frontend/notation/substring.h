// The texts that are a run of some chunks: chunks[n] ... chunks[m - 1] for some n <= m.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SUBSTRING_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SUBSTRING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Characters; nodes linear in the number of chunks. `chunks` are UTF-8; empty ones are passed over.
absl::StatusOr<NodeId> SubstringOf(const std::vector<std::string>& chunks, Budget& budget,
                                   IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SUBSTRING_H_
