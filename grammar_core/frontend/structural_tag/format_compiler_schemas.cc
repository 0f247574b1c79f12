// The formats that are a schema: how its values are written, and where the schema stands. Tools
// have one format in common, so how it is written is read once for all of them.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/frontend/structural_tag/format_compiler.h"
#include "grammar_core/frontend/structural_tag/written_style.h"

namespace maskd {
namespace {

// JSON spells these in more than one way.
absl::Status CheckSpelledAsIs(const std::vector<std::string>& texts, const JsonValue& at) {
  for (const std::string& text : texts) {
    const bool plain =
        absl::c_none_of(text, [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; });
    if (plain) continue;
    return UnsupportedAt(absl::StrCat(at.Pointer(), "/excludes"),
                         "a text with quotes, backslashes or control characters");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SchemaWriting> FormatCompiler::WritingAt(const TagFormat& format) {
  const JsonValue& at = format.at;
  SchemaWriting writing = {.options = source_.options};
  const absl::StatusOr<bool> any_order = FlagOf(at, "any_order");
  if (!any_order.ok()) return any_order.status();
  if (*any_order) writing.options.property_order = PropertyOrder::kAny;
  const absl::StatusOr<std::optional<std::uint32_t>> space = CountOf(at, "max_whitespace_cnt");
  if (!space.ok()) return space.status();
  if (space->has_value()) {
    if (**space == 0 || **space > 1'000'000)
      return InvalidMember(at, "max_whitespace_cnt", "must be a number from 1 to 1000000, or null");
    writing.options.white_space = WhiteSpace::kFlexible;
    writing.options.max_whitespace = static_cast<std::int32_t>(**space);
  }
  absl::StatusOr<std::vector<std::string>> excludes = TextsOf(at, "excludes");
  if (!excludes.ok()) return excludes.status();
  for (const std::string& text : *excludes)
    speller_.Keep(text, absl::StrCat(at.Pointer(), "/excludes"));
  writing.excludes = *std::move(excludes);
  const std::optional<JsonValue> style = at.Find("style");
  if (style.has_value()) {
    absl::StatusOr<WrittenStyleRef> read = ReadWrittenStyle(*style);
    if (!read.ok()) return read.status();
    writing.style = *std::move(read);
  }
  if (writing.style != nullptr) return writing;
  const absl::Status spelled = CheckSpelledAsIs(writing.excludes, at);
  if (!spelled.ok()) return spelled;
  return writing;
}

absl::StatusOr<const EmbeddedGrammars::Writing*> FormatCompiler::WritingOf(
    const TagFormat& format) {
  const auto& [at, known] = writing_;
  if (known != nullptr && at == format.at.id()) return known;
  absl::StatusOr<SchemaWriting> how = WritingAt(format);
  if (!how.ok()) return how.status();
  const bool is_json = how->style == nullptr;
  if (!is_json) {
    how->ends = TagEnds(format);
    how->last = last_;
  }
  const EmbeddedGrammars::Writing* const writing = &embedded_.WritingOf(*std::move(how));
  if (is_json) writing_ = {format.at.id(), writing};
  return writing;
}

FormatCompiler::Made FormatCompiler::SchemaAt(const TagFormat& format, absl::string_view key,
                                              const EmbeddedGrammars::Writing& writing) {
  const absl::StatusOr<JsonValue> schema = RequiredMember(format.at, key);
  if (!schema.ok()) return schema.status();
  if (format.tool != nullptr && schema->is_string() && schema->text() == kToolMark)
    return embedded_.Schema(format.tool->schema, PlaceOfTool(*format.tool), writing);
  if (!schema->is_object() && !schema->is_bool())
    return InvalidMember(format.at, key, "a schema must be an object or a boolean");
  return embedded_.Schema(SharedText(schema->Compact()), schema->Pointer(), writing);
}

// Formats of tools stand side by side, and are made from the last to the first.
void FormatCompiler::LookAhead(const TagFormat& format, const EmbeddedGrammars::Writing& writing) {
  constexpr std::ptrdiff_t kThird = 3;
  if (format.tool == nullptr) return;
  const TagFormat* const third = &format - formats_.data() < kThird ? nullptr : &format - kThird;
  const bool is_like_it =
      third != nullptr && third->tool != nullptr && third->at.id() == format.at.id();
  embedded_.LookAhead(is_like_it ? &third->tool->schema : nullptr, writing);
}

FormatCompiler::Made FormatCompiler::JsonSchema(const TagFormat& format) {
  const absl::StatusOr<const EmbeddedGrammars::Writing*> writing = WritingOf(format);
  if (!writing.ok()) return writing.status();
  LookAhead(format, **writing);
  return SchemaAt(format, "json_schema", **writing);
}

FormatCompiler::Made FormatCompiler::QwenXmlParameter(const TagFormat& format) {
  return SchemaAt(format, "json_schema",
                  embedded_.WritingOf({.options = source_.options,
                                       .style = FindWrittenStyle("qwen_xml"),
                                       .ends = TagEnds(format),
                                       .last = last_}));
}

FormatCompiler::Made FormatCompiler::StructureSchema(const TagFormat& format) {
  return SchemaAt(format, "schema", embedded_.WritingOf({.options = source_.options}));
}

}  // namespace maskd
