// What the readers of a grammar's text share: the place in it, the bounds, and where what they make
// goes.
//
// Ownership  what is referred to outlives it.
// Threads    one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_READING_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_READING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/notation/line_index.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// What is said of a rule's temperature where the rule is not the one that the text begins with.
inline constexpr absl::string_view kPartialTemperature =
    "a temperature is given to the whole text only, at the rule that it begins with";

// One for each source text, or part of another notation in it.
struct SourceReading {
  // `source` must outlive this.
  SourceReading(absl::string_view source, const Limits& its_limits, Budget& its_budget)
      : text(source),
        limits(its_limits),
        budget(its_budget),
        lines(source),
        cursor(source, "", "grammar"),
        builder(its_limits) {}

  const absl::string_view text;
  const Limits& limits;
  Budget& budget;
  const LineIndex lines;
  PatternCursor cursor;
  IrBuilder builder;
  std::vector<Diagnostic> warnings;
  // See ReadResult.
  std::vector<Diagnostic> bounds;
  // The whole text's, where the source says one.
  std::optional<float> temperature;
  // Of rules that parts in other notations brought.
  RuleFaults faults;

  // A warning at the byte `at` of the text.
  void Warn(std::size_t at, absl::string_view message);
  // RESOURCE_EXHAUSTED at the byte `at` where `depth` is more than limits.source_depth.
  [[nodiscard]] absl::Status CheckDepth(std::size_t at, std::int64_t depth) const;
  // INVALID_ARGUMENT at the byte `at` where `name` is defined in `grammar` already.
  [[nodiscard]] absl::Status CheckNew(const SourceGrammar& grammar, absl::string_view name,
                                      std::size_t at) const;

  // What was read, as the result of a front end.
  absl::StatusOr<ReadResult> Result(RuleId start) &&;
};

// An expression of a node of characters that takes about `size` nodes.
ExprId AddCharacters(SourceGrammar& grammar, NodeId node, std::size_t size, std::size_t at);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_READING_H_
