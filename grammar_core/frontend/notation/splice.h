// The rules of one grammar as rules of another.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/hash128.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// Copies all rules that `copier` copies from `read`, and adds their faults to `faults`. Errors:
// those of the budget and of the builder.
absl::Status SpliceRules(const ReadResult& read, IrCopier& copier, IrBuilder& builder,
                         Budget& budget, RuleFaults& faults);

// Hashes by node, as HashClosedNodes() has them, and by rule; Hash128{} and none where there is no
// other of that kind.
struct PartHashes {
  const std::vector<Hash128>& nodes;
  absl::Span<const Hash128> rules = {};
};
// Nodes and rules of a grammar by such hashes.
struct MadeParts {
  absl::flat_hash_map<Hash128, NodeId> nodes = {};
  absl::flat_hash_map<Hash128, RuleId> rules = {};
};

// The same of what rules reach alone. What is in `made` is taken from there, with all that it is
// made of; what else has a hash in `hashes` is added to it. Places of rules and faults are moved
// behind `prefix`, as MovePlaces() does.
absl::Status SpliceRules(const ReadResult& read, const PartHashes& hashes, absl::string_view prefix,
                         IrCopier& copier, IrBuilder& builder, Budget& budget, RuleFaults& faults,
                         MadeParts& made);

// Puts `prefix` before the places that are JSON Pointers of the grammar's own text: those of
// options and of documents beside it stay.
absl::Status MovedStatus(const absl::Status& status, absl::string_view prefix);
std::string MovedPlace(absl::string_view prefix, absl::string_view place);
// Whether it is such a pointer.
bool MovesPlace(absl::string_view place);
void MovePlaces(absl::string_view prefix, ReadResult* read);

// For a text within another that has no places in it: all is told at `place`, where the text
// stands, and the place within it goes into the message, behind `what` ("in the text here: ").
absl::Status EnclosedStatus(const absl::Status& status, absl::string_view place,
                            absl::string_view what);
void EnclosePlaces(absl::string_view place, absl::string_view what, ReadResult* read);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_
