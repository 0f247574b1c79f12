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

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

struct RegexOptions {
  // False: the whole text matches. True: some part of it does, as in JSON Schema's `pattern`.
  bool search = false;
  // Where the pattern stands, for errors (a JSON Pointer); empty: errors are at line:column of the
  // pattern itself.
  std::string place = {};
  // Flags that hold from the beginning: as (?i), (?s) and (?x) do. The last ignores white space and
  // comments (from # to the line's end) outside of classes.
  bool fold = false;
  bool dot_all = false;
  bool free_spacing = false;
  // What \d, \w, \s and the dot are. Word boundaries are refused where words are not WordChars().
  const Shorthands& shorthands = EcmaShorthands();
  // False: look-around is refused, as in a pattern that is a part of a longer one: all that it
  // could look at is not known.
  bool look_around = true;
  // Bytes before the pattern in the text given: a pattern that is a part of a longer source has its
  // errors at line:column of that source.
  std::size_t begin = 0;
};

// The texts that match `pattern`, as a node of characters of `builder`; Nothing where there are
// none.
absl::StatusOr<NodeId> ReadRegex(absl::string_view pattern, const RegexOptions& options,
                                 const Limits& limits, Budget& budget, IrBuilder& builder);

absl::StatusOr<ReadResult> ReadRegexGrammar(const GrammarSource& source, const Limits& limits,
                                            Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_REGEX_H_
