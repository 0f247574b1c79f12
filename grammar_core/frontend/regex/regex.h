// The front end of "regex": the whole text, as UTF-8, matches a regular expression.
//
// Dialect  docs/regex.md: ECMA-262 with the u flag and RE2, where they agree; where not, that page
//          says which holds. Groups capture nothing, laziness changes nothing: only the language
//          counts.
// Exactness  anchors, word boundaries and look-around hold exactly or are refused; back-references,
//          atomic groups and possessive quantifiers are refused (UNIMPLEMENTED).
// Errors   INVALID_ARGUMENT, UNIMPLEMENTED and RESOURCE_EXHAUSTED (source_depth: groups in groups;
//          repeat_count; look_around_parts; ir_nodes) with line:column of the pattern, in bytes
//          from 1.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/regex/regex_options.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// The texts that match `pattern`, as a node of characters of `builder`; Nothing where there are
// none.
absl::StatusOr<NodeId> ReadRegex(absl::string_view pattern, const RegexOptions& options,
                                 const Limits& limits, Budget& budget, IrBuilder& builder);

// source.text is the pattern.
absl::StatusOr<ReadResult> ReadRegexGrammar(const GrammarSource& source, const Limits& limits,
                                            Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_H_
