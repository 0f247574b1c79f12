#include "grammar_core/frontend/structural_tag/structural_tag.h"

#include <vector>

#include "grammar_core/frontend/structural_tag/format.h"
#include "grammar_core/frontend/structural_tag/format_compiler.h"

namespace maskd {

absl::StatusOr<ReadResult> ReadStructuralTag(JsonDocument document, const GrammarSource& source,
                                             const ReadContext& context, const Limits& limits,
                                             Budget& budget) {
  const absl::StatusOr<std::vector<TagFormat>> formats =
      ReadFormats(document.root(), budget, context.tools);
  if (!formats.ok()) return formats.status();
  return FormatCompiler(*formats, source, context, limits, budget).Compile();
}

}  // namespace maskd
