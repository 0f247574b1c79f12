// The id of a grammar: what it is a hash of, and in which order.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/sha256.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/grammar_format.h"
#include "grammar_core/frontend/front_end.h"

namespace maskd {
namespace {

// The length goes before the text, so that no two lists of fields give the same bytes.
void AppendField(absl::string_view text, std::string* out) {
  absl::StrAppend(out, text.size(), ":", text);
}

// Absent, or the length and the text.
std::string SeparatorText(const std::optional<std::string>& separator) {
  std::string text = ",";
  if (separator.has_value()) AppendField(*separator, &text);
  return text;
}

std::string NumberText(absl::string_view name, std::optional<std::int32_t> number) {
  return number.has_value() ? absl::StrCat(",", name, *number) : "";
}

std::string OptionsText(const GrammarOptions& options) {
  return absl::StrCat(
      static_cast<int>(options.white_space), ",", options.max_whitespace, ",",
      static_cast<int>(options.property_order), ",", static_cast<int>(options.strictness), ",",
      static_cast<int>(options.additional_properties), ",", options.max_number_digits, ",",
      static_cast<int>(options.formats), SeparatorText(options.item_separator),
      SeparatorText(options.key_separator), NumberText("tokens", options.max_tokens),
      NumberText("characters", options.max_characters), NumberText("indent", options.indent),
      options.spelling == JsonSpelling::kCanonical ? ",canonical" : "");
}

// The hash of `source` with `text` in place of its text.
std::string DigestOf(const GrammarSource& source, absl::string_view text,
                     absl::string_view tokenizer_hash) {
  std::string fields;
  AppendField(kGrammarFormat, &fields);
  AppendField(source.kind, &fields);
  // The text itself, which may be long, stands between two strings.
  absl::StrAppend(&fields, text.size(), ":");
  const std::string head = std::exchange(fields, {});
  AppendField(OptionsText(source.options), &fields);
  for (const GrammarSource::Document& document : source.documents) {
    AppendField(document.uri, &fields);
    AppendField(document.text, &fields);
  }
  AppendField(tokenizer_hash, &fields);
  return Sha256Hex({head, text, fields});
}

}  // namespace

std::string GrammarId(const ParsedSource& parsed, absl::string_view tokenizer_hash) {
  return DigestOf(parsed.source, NormalText(parsed), tokenizer_hash);
}

std::string SourceKey(const GrammarSource& source, absl::string_view tokenizer_hash) {
  return DigestOf(source, source.text, tokenizer_hash);
}

absl::StatusOr<std::string> GrammarId(const GrammarSource& source, absl::string_view tokenizer_hash,
                                      const Limits& limits) {
  const absl::StatusOr<ParsedSource> parsed = ParseSource(source, limits);
  if (!parsed.ok()) return parsed.status();
  return GrammarId(*parsed, tokenizer_hash);
}

}  // namespace maskd
