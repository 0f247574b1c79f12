// Strings: the intersection of a length and of the language of each facet.
//
// What is intersected is characters. The escapes of JSON are put around the result, once, so that a
// pattern, a length and a forbidden text all speak of what the string means and not of its
// spelling.
//
// Invariant  a facet that has no language is refused and left out, so that one answer can name
//            every fault of a schema.
// Cost       one intersection; whether it is empty is asked later, of the whole grammar
//            (emptiness.h).
// Source     JSON Schema Validation 2020-12, section 6.3.
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {

absl::StatusOr<NodeId> StringCharacters(const MergedSchema& schema, RuleContext& context) {
  const CountRange& length = schema.length;
  if (length.empty()) {
    return InvalidAt(length.max_at->Pointer(),
                     absl::StrCat(length.max, " is less than minLength ", length.min));
  }
  IrBuilder& b = context.builder;
  std::vector<NodeId> languages = {b.Repeat(b.AnyChar(), length.min, length.max)};
  for (const Facet& facet : schema.facets) {
    if (!StringFacets::Concerns(facet)) continue;
    const absl::StatusOr<NodeId> language = context.strings.Language(facet);
    if (!language.ok()) {
      context.refuse(facet.at, language.status());
      continue;
    }
    if (*language == b.Nothing()) return InvalidAt(facet.at.Pointer(), "no string satisfies it");
    languages.push_back(*language);
  }
  return b.And(std::move(languages));
}

absl::StatusOr<NodeId> StringRule(const MergedSchema& schema, RuleContext& context) {
  const absl::StatusOr<NodeId> characters = StringCharacters(schema, context);
  if (!characters.ok()) return characters;
  IrBuilder& b = context.builder;
  return b.Concat({b.Bytes("\""), b.Encode(context.layout.spelling(), *characters), b.Bytes("\"")});
}

}  // namespace maskd
