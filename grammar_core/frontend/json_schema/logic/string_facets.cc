// Keywords of strings as languages of characters.
//
// A known string is matched against the same language, in a builder of its own (`known_`), so that
// the grammar's IR does not grow by texts that are only asked about. A format whose language leaves
// strings out is bracketed by a second one that leaves none out; a string in between is refused.
//
// Source  JSON Schema Validation 2020-12, sections 6.3 and 7.
#include "grammar_core/frontend/json_schema/logic/string_facets.h"

#include <cassert>
#include <optional>
#include <vector>

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json_schema/formats/format.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/ir/text_match.h"

namespace maskd {
namespace {

// The strings among the values of a const or an enum.
std::vector<std::string> StringsOf(const Facet& facet) {
  std::vector<std::string> strings;
  if (facet.keyword == Keyword::kConst) {
    if (facet.at.is_string()) strings.emplace_back(facet.at.text());
    return strings;
  }
  for (const JsonValue value : facet.at.children())
    if (value.is_string()) strings.emplace_back(value.text());
  return strings;
}

bool IsInexactFormat(const Facet& facet) {
  return facet.keyword == Keyword::kFormat && FindFormat(facet.at.text())->make_most != nullptr;
}

}  // namespace

bool StringFacets::Concerns(const Facet& facet) {
  return facet.keyword == Keyword::kPattern || facet.keyword == Keyword::kFormat ||
         facet.keyword == Keyword::kPatternProperties || facet.keyword == Keyword::kConst ||
         facet.keyword == Keyword::kEnum;
}

absl::StatusOr<bool> StringFacets::Holds(const Facet& facet, absl::string_view text) {
  if (!Concerns(facet)) return true;
  const absl::StatusOr<NodeId> language = Read(facet, &known_);
  if (!language.ok()) return language.status();
  const absl::StatusOr<bool> matches = Matches(*language, text);
  if (!matches.ok() || *matches || !IsInexactFormat(facet)) return matches;
  const absl::StatusOr<NodeId> opposite = Read({facet.keyword, facet.at, !facet.negated}, &known_);
  if (!opposite.ok()) return opposite.status();
  const absl::StatusOr<bool> not_so = Matches(*opposite, text);
  if (!not_so.ok() || *not_so) return matches;
  return UnsupportedAt(facet.at.Pointer(), "format",
                       "a string of the schema's own may be of it, which is not decided here");
}

absl::StatusOr<bool> StringFacets::Matches(NodeId language, absl::string_view text) {
  if (!scratch_.status().ok()) return scratch_.status();
  const std::optional<std::u32string> characters = Utf8ToCodePoints(text);
  assert(characters.has_value());
  return MatchesText(scratch_.ir(), language, *characters, budget_);
}

absl::StatusOr<NodeId> StringFacets::Read(const Facet& facet, Languages* languages) {
  assert(Concerns(facet));
  IrBuilder& builder = languages->builder;
  absl::StatusOr<NodeId> language = builder.Nothing();
  if (facet.keyword == Keyword::kPattern) {
    language = ReadPattern(facet.at, facet.at.text(), languages);
  } else if (facet.keyword == Keyword::kFormat) {
    if (languages == &grammar_ && IsInexactFormat(facet))
      bounded_formats_.emplace(facet.at.Pointer(), facet.at.text());
    language = ReadFormat(facet, languages);
  } else if (facet.keyword == Keyword::kPatternProperties) {
    language = ReadPattern(facet.at, facet.at.key(), languages);
  } else {
    language = builder.TextSet(StringsOf(facet));
  }
  if (!language.ok() || !facet.negated) return language;
  return builder.Not(*language);
}

absl::StatusOr<NodeId> StringFacets::ReadPattern(const JsonValue& at, absl::string_view pattern,
                                                 Languages* languages) {
  const auto known = languages->patterns.find(pattern);
  if (known != languages->patterns.end()) return known->second;
  const absl::StatusOr<NodeId> language = ReadRegex(
      pattern, {.search = true, .place = at.Pointer()}, limits_, budget_, languages->builder);
  if (language.ok()) languages->patterns.emplace(pattern, *language);
  return language;
}

absl::StatusOr<NodeId> StringFacets::ReadFormat(const Facet& facet, Languages* languages) {
  assert(FindFormat(facet.at.text()) != nullptr);
  const Format& format = *FindFormat(facet.at.text());
  const bool most = facet.negated && format.make_most != nullptr;
  absl::flat_hash_map<std::string, NodeId>& known = most ? languages->most : languages->formats;
  const auto found = known.find(format.name);
  if (found != known.end()) return found->second;
  FormatMaker maker(limits_, budget_, languages->builder);
  const NodeId language = (most ? format.make_most : format.make)(maker);
  if (!maker.status().ok()) return maker.status();
  known.emplace(format.name, language);
  return language;
}

}  // namespace maskd
