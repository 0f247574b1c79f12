#include "grammar_core/frontend/notation/source_reading.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/saturating.h"

namespace maskd {

void SourceReading::Warn(std::size_t at, absl::string_view message) {
  AddWarning({lines.Place(at), std::string(message)}, &warnings);
}

absl::Status SourceReading::CheckDepth(std::size_t at, std::int64_t depth) const {
  if (depth <= limits.source_depth) return absl::OkStatus();
  return cursor.Limit(at, "source_depth", limits.source_depth, depth);
}

absl::Status SourceReading::CheckNew(const SourceGrammar& grammar, absl::string_view name,
                                     std::size_t at) const {
  const Definition* known = grammar.Find(name);
  if (known == nullptr) return absl::OkStatus();
  return cursor.Invalid(at, absl::StrCat("\"", name.substr(0, 64), "\" is defined already, at ",
                                         lines.Place(known->at)));
}

absl::StatusOr<ReadResult> SourceReading::Result(RuleId start) && {
  absl::StatusOr<GrammarIr> ir = std::move(builder).Build(start);
  if (!ir.ok()) return ir.status();
  return ReadResult{.ir = *std::move(ir),
                    .warnings = std::move(warnings),
                    .bounds = std::move(bounds),
                    .faults = std::move(faults),
                    .temperature = temperature};
}

ExprId AddCharacters(SourceGrammar& grammar, NodeId node, std::size_t size, std::size_t at) {
  const auto bounded = static_cast<std::uint32_t>(std::min<std::size_t>(size, kNoEnd));
  return grammar.Add({.kind = ExprKind::kCharacters, .a = node, .b = bounded, .at = at});
}

}  // namespace maskd
