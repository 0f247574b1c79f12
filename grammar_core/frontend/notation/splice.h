// The rules of one grammar as rules of another.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// Copies all rules that `copier` copies from `read`, and adds their faults to `faults`. Errors:
// those of the budget and of the builder.
absl::Status SpliceRules(const ReadResult& read, IrCopier& copier, IrBuilder& builder,
                         Budget& budget, RuleFaults& faults);

// Puts `prefix` before the places that are JSON Pointers of the grammar's own text: those of
// options and of documents beside it stay.
absl::Status MovedStatus(const absl::Status& status, absl::string_view prefix);
void MovePlaces(absl::string_view prefix, ReadResult* read);

// For a text within another that has no places in it: all is told at `place`, where the text
// stands, and the place within it goes into the message, behind `what` ("in the text here: ").
absl::Status EnclosedStatus(const absl::Status& status, absl::string_view place,
                            absl::string_view what);
void EnclosePlaces(absl::string_view place, absl::string_view what, ReadResult* read);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SPLICE_H_
